/** What pods got of a node's process, and should not have; and what they should have and did not. Pure. */
import type { NodeProbe } from './node-plan.ts';
import type { Attachment, Outcomes, ReachabilityPod } from './types.ts';

/** One message each. */
export const evaluateNodeProbes = (
  pods: readonly ReachabilityPod[],
  probes: readonly NodeProbe[],
  { answers, seen }: Outcomes,
): readonly string[] =>
  probes.flatMap((probe) => {
    const listeners = pods.filter(({ key }) => seen.get(key)?.has(probe.nonce) === true);
    const isAnswered = answers.get(probe.nonce)?.answered === true;
    const strays = listeners
      .filter((pod) => !mayHear(pod, probe))
      .map((pod) => `${describe(probe)}: ${pod.key} got it`);
    if (probe.isExpected) return isAnswered ? strays : [...strays, `${describe(probe)}: no answer`];
    const isTheirs = pods.some((pod) => pod.key === probe.to && mayHear(pod, probe));
    const isLeak = isAnswered && listeners.length === 0 && probe.scope !== 'group' && !isTheirs;
    return isLeak ? [`${describe(probe)}: it was answered`] : strays;
  });

/** Pods of the default network hear whatever is on it. */
const mayHear = ({ attachments }: ReachabilityPod, { source, network, scope }: NodeProbe): boolean => {
  const isOpen = (attachment: Attachment): boolean =>
    (attachment.role === 'primary' && attachment.network === 'default') ||
    source.mayBeHeardBy?.(attachment) === true ||
    (source.mayReach(attachment) && (scope === 'global' || attachment.role === 'primary'));
  return attachments.some((attachment) => attachment.network === network && isOpen(attachment));
};

const describe = ({ source, to = 'everybody', family, protocol, address, device }: NodeProbe): string =>
  `${source.name} → ${to} at ${address}${device === undefined ? '' : `%${device}`}, IPv${family} ${protocol}`;
