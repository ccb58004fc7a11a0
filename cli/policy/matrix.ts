/** `udnctl policy matrix NAMESPACE`: who may connect to whom by policies, and whether the rows say the same. */
import { z } from 'zod';
import type { PodStatus } from '../../api/agent-status.ts';
import { type PolicyEndStatus, policyEndSchema } from '../../api/policy-status.ts';
import { messageOf } from '../../base/error-message.ts';
import { FAMILIES, type Family, ipFamily, parseIp } from '../../net/ip.ts';
import { CliError } from '../errors.ts';
import type { Transact } from '../flows/datapaths.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { lets, portsText } from './let-through.ts';
import { type Programmed, readProgrammed } from './programmed.ts';

/** What one node answers, and `-o json` prints. */
export const matrixSchema = z.object({
  pods: z.array(z.string()),
  /** Of the pods of the nodes that were asked. */
  ends: z.array(policyEndSchema),
  /** Where rows let something else through than policies say. */
  differences: z.array(
    z.object({
      ...{ pod: z.string(), direction: z.enum(['Ingress', 'Egress']), peer: z.string(), family: z.literal([4, 6]) },
      ...{ expected: z.string(), programmed: z.string() },
    }),
  ),
  /** What could not be asked. */
  unknown: z.array(z.string()),
});
export type PolicyMatrix = z.output<typeof matrixSchema>;

interface MatrixSources {
  readonly agent: Pick<AgentClient, 'policyMatrix' | 'pods'>;
  readonly northbound: Transact;
}

/** @throws CliError for more pods than a matrix has */
export const matrixHere = async ({ agent, northbound }: MatrixSources, namespace: string): Promise<PolicyMatrix> => {
  const [{ pods, ends, message }, statuses] = await Promise.all([agent.policyMatrix(namespace), agent.pods()]);
  if (message !== undefined) throw new CliError(message, 2);
  try {
    const programmed = await readProgrammed(northbound);
    return { pods, ends, differences: ends.flatMap((end) => differencesOf(end, programmed, statuses)), unknown: [] };
  } catch (error) {
    return { pods, ends, differences: [], unknown: [`rows were not compared: ${messageOf(error)}`] };
  }
};

export const mergedMatrix = (parts: readonly PolicyMatrix[], unknown: readonly string[]): PolicyMatrix => ({
  pods: [...new Set(parts.flatMap(({ pods }) => pods))].sort(),
  ends: parts.flatMap(({ ends }) => ends),
  differences: parts.flatMap(({ differences }) => differences),
  unknown: [...unknown, ...parts.flatMap((part) => part.unknown)],
});

const differencesOf = (
  end: PolicyEndStatus,
  programmed: Programmed,
  pods: readonly PodStatus[],
): PolicyMatrix['differences'] => {
  const { pod, direction, peer, network, peerAddresses } = end;
  const attachment = pods
    .find((one) => `${one.namespace}/${one.name}` === pod)
    ?.attachments.find((one) => one.network === network);
  if (attachment === undefined) return [];
  return FAMILIES.flatMap((family) => {
    const own = ofFamily(
      attachment.addresses.map((address) => address.split('/')[0] ?? ''),
      family,
    );
    const other = ofFamily(peerAddresses, family);
    const expected = lets(end, family);
    if (own === undefined || other === undefined || expected === undefined) return [];
    const found = programmed.lets(direction, attachment.port, { own: parseIp(own), peer: parseIp(other) });
    const texts = { expected: portsText(expected), programmed: found === undefined ? 'no port' : portsText(found) };
    return texts.expected === texts.programmed ? [] : [{ pod, direction, peer, family, ...texts }];
  });
};

const ofFamily = (addresses: readonly string[], family: Family): string | undefined =>
  addresses.find((address) => ipFamily(parseIp(address)) === family);
