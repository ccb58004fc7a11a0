/** Sends what a matrix says of, and compares. */
import type { PolicyMatrix } from '../matrix.ts';
import type { Probed, Targets } from './connect.ts';
import { findingsOf, type ProbeFindings } from './findings.ts';
import { planProbes } from './plan.ts';

/**
 * @param send from all pods of the namespace whose nodes can be asked
 * @throws CliError for more pods than can be probed
 */
export const probeMatrix = async (
  matrix: PolicyMatrix,
  send: (targets: Targets) => Promise<Probed>,
): Promise<ProbeFindings> => {
  const plan = planProbes(matrix);
  const addresses = [...new Set(plan.probes.map(({ address }) => address))];
  if (addresses.length === 0) return findingsOf(plan, { results: [], unknown: [] });
  const first = await send({ addresses, ports: plan.ports });
  const lost = findingsOf(plan, first).differences.filter(({ isAllowed }) => isAllowed);
  if (lost.length === 0) return findingsOf(plan, first);
  // A packet can be lost, and a policy can have come a moment ago: what should arrive has a second try. What should not has none.
  const again = await send({
    addresses: [...new Set(lost.map(({ address }) => address))],
    ports: [...new Set(lost.map(({ port }) => port))],
  });
  const lostKeys = new Set(lost.map(({ from, address, port }) => `${from} ${address} ${port}`));
  const better = again.results.filter(({ from, address, port }) => lostKeys.has(`${from} ${address} ${port}`));
  return findingsOf(plan, { results: [...first.results, ...better], unknown: first.unknown });
};
