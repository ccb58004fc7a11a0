/** Packets of all pods to all others. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { differences } from '../../../oracles/reachability/evaluate.ts';
import { measureCluster } from '../../../oracles/reachability/measure.ts';
import type { Reachability } from '../../../oracles/reachability/types.ts';

const TIMING = { timeoutMs: 500, tries: 4 };

/**
 * Measures until pods reach exactly whom they should, IPv4 and IPv6; the second measurement is for what the first one
 * found under way.
 * @returns how many probes were sent @throws Error with a message per pair that is wrong
 */
export const requireReachability = async (sandbox: Sandbox, tries = 2): Promise<number> => {
  const results = await measureCluster(sandbox, TIMING);
  const wrong = differences(results);
  if (wrong.length === 0) return results.length;
  if (tries > 1) return await requireReachability(sandbox, tries - 1);
  throw new Error(`${wrong.length} of ${results.length} probes:\n${wrong.slice(0, 20).map(describeProbe).join('\n')}`);
};

const describeProbe = ({ from, to, protocol, family, expected, observed, error, stray }: Reachability): string =>
  `${from} → ${to} ${protocol}${family}: expected ${expected}, observed ${observed}${stray ? ' (stray)' : ''} ${error ?? ''}`;
