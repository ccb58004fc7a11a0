/** Which probes show who reaches whom. Pure. */
import { ipFamily } from '../../../net/ip.ts';
import { SandboxError } from '../../../sandbox/errors.ts';
import { mayReach } from './expectation.ts';
import { PROTOCOLS, type Probe, type ReachabilityPod } from './types.ts';

/**
 * Every ordered pair of pods, on every address of the second (that of its default network's interface, too), with every
 * protocol.
 * @param run different for every measurement of the same pods; letters, digits, dots and dashes
 * @throws SandboxError ERR_SANDBOX_USAGE when two pods have the same hostname: answers would not distinguish them
 */
export const planProbes = (pods: readonly ReachabilityPod[], run: string): Probe[] => {
  requireDistinctHostnames(pods);
  const pairs = pods.flatMap((from) => pods.filter((to) => to !== from).map((to) => ({ from, to })));
  return pairs
    .flatMap(({ from, to }) => probesOfPair(from, to))
    .map((probe, index) => ({ nonce: `${run}.${index}`, ...probe }));
};

const probesOfPair = (from: ReachabilityPod, to: ReachabilityPod): Omit<Probe, 'nonce'>[] =>
  to.attachments.flatMap((attachment) =>
    attachment.addresses.flatMap((address) =>
      PROTOCOLS.map((protocol) => ({
        from: from.key,
        to: to.key,
        network: { from: from.attachments[0]?.network ?? '', to: attachment.network },
        role: attachment.role,
        family: ipFamily(address),
        protocol,
        address,
        expected: mayReach(from, attachment),
      })),
    ),
  );

const requireDistinctHostnames = (pods: readonly ReachabilityPod[]): void => {
  const keys = new Map<string, string>();
  for (const { key, hostname } of pods) {
    const other = keys.get(hostname);
    if (other !== undefined) {
      const message = `${other} and ${key} have the same hostname: their answers could not be told apart`;
      throw new SandboxError('ERR_SANDBOX_USAGE', message);
    }
    keys.set(hostname, key);
  }
};
