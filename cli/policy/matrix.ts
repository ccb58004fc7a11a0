/** `udnctl policy matrix NAMESPACE [--network NETWORK]`: who may connect to whom by policies, and whether the rows say the same. */
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
  /** Of the same pods, on the network that policies are about; an older udnctl lists none. */
  addresses: z.record(z.string(), z.array(z.string())).default({}),
  /** What could not be asked. */
  unknown: z.array(z.string()),
});
export type PolicyMatrix = z.output<typeof matrixSchema>;

interface MatrixSources {
  readonly agent: Pick<AgentClient, 'policyMatrix' | 'pods'>;
  readonly northbound: Transact;
}

/**
 * @param network a secondary one; undefined: the pods' own
 * @throws CliError for more pods than a matrix has, and for what is no secondary network
 */
export const matrixHere = async (
  { agent, northbound }: MatrixSources,
  namespace: string,
  network?: string,
): Promise<PolicyMatrix> => {
  const [answer, statuses] = await Promise.all([agent.policyMatrix(namespace, network), agent.pods()]);
  const { pods, ends, message } = answer;
  if (message !== undefined) throw new CliError(message, 2);
  if (answer.network !== network) throw new CliError('the agent is older, and knows matrices of own networks only', 2);
  const addresses = addressesIn(namespace, statuses, network);
  try {
    const programmed = await readProgrammed(northbound);
    const differences = ends.flatMap((end) => differencesOf(end, programmed, statuses));
    const unread = programmed.unread().map((acl) => `the match of an ACL cannot be read, and it was left out: ${acl}`);
    return { pods, ends, differences, addresses, unknown: [...lackingOf(ends), ...unread] };
  } catch (error) {
    return { pods, ends, addresses, differences: [], unknown: [`rows were not compared: ${messageOf(error)}`] };
  }
};

/** Once for each reason: a daemon that has stopped is one for all pods of its node. */
const lackingOf = (ends: readonly PolicyEndStatus[]): readonly string[] => {
  const byReason = Map.groupBy(
    ends.filter(({ notProgrammed }) => notProgrammed !== undefined),
    ({ notProgrammed }) => notProgrammed,
  );
  return [...byReason].map(([reason, same]) => {
    const [pod, ...others] = new Set(same.map((end) => end.pod));
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return `packets of ${pod}${more} may fare differently: ${reason}`;
  });
};

export const mergedMatrix = (parts: readonly PolicyMatrix[], unknown: readonly string[]): PolicyMatrix => ({
  pods: [...new Set(parts.flatMap(({ pods }) => pods))].sort(),
  ends: parts.flatMap(({ ends }) => ends),
  differences: parts.flatMap(({ differences }) => differences),
  addresses: Object.assign({}, ...parts.map(({ addresses }) => addresses)),
  unknown: [...unknown, ...parts.flatMap((part) => part.unknown)],
});

/** By `namespace/name`, on the network that is asked about. */
const addressesIn = (
  namespace: string,
  pods: readonly PodStatus[],
  network: string | undefined,
): PolicyMatrix['addresses'] =>
  Object.fromEntries(
    pods
      .filter((pod) => pod.namespace === namespace)
      .map((pod): [string, string[]] => [
        `${namespace}/${pod.name}`,
        pod.attachments
          .filter((one) => (network === undefined ? one.role === 'primary' : one.network === network))
          .flatMap(({ addresses }) => addresses.map((address) => address.split('/')[0] ?? '')),
      ]),
  );

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
