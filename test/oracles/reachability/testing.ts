/** Pods and outcomes for tests: two tenants with the same addresses, and two pods of the default network. */
import { type Ip, parseIp } from '../../../net/ip.ts';
import type { Answer, Attachment, Outcomes, Probe, ReachabilityPod } from './types.ts';

export const attachment = (network: string, addresses: readonly string[], role: Attachment['role']): Attachment => ({
  network,
  role,
  addresses: addresses.map((text): Ip => parseIp(text)),
});

export const pod = (key: string, node: string, ...attachments: readonly Attachment[]): ReachabilityPod => ({
  key,
  hostname: key.split('/')[1] ?? key,
  node,
  attachments,
});

const tenantPod = (network: string, letter: string, node: string, own: string, locked: string): ReachabilityPod =>
  pod(
    `${network}/${network}-${letter}`,
    node,
    attachment(`${network}_${network}`, [own], 'primary'),
    attachment('default', [locked], 'infrastructure-locked'),
  );

export const redA = tenantPod('red', 'a', 'node-1', '10.100.0.3', '10.128.0.3');
export const redB = tenantPod('red', 'b', 'node-2', '10.100.1.3', '10.128.2.3');
export const blueA = tenantPod('blue', 'a', 'node-1', '10.100.0.3', '10.128.0.4');
export const blueB = tenantPod('blue', 'b', 'node-2', '10.100.1.3', '10.128.2.4');
export const plainA = pod('plain/plain-a', 'node-1', attachment('default', ['10.128.0.5'], 'primary'));
export const plainB = pod('plain/plain-b', 'node-2', attachment('default', ['10.128.2.5'], 'primary'));

export const PODS: readonly ReachabilityPod[] = [plainA, plainB, redA, redB, blueA, blueB];

export const SILENCE: Answer = { answered: false, who: undefined, error: 'timed out', tries: 4 };

/** What a cluster does with a probe: which pods see it, and what the sender hears. */
export type Behaviour = (probe: Probe) => { readonly seenBy: readonly ReachabilityPod[]; readonly answer: Answer };

export const outcomesOf = (probes: readonly Probe[], behaviour: Behaviour): Outcomes => {
  const answers = new Map<string, Answer>();
  const seen = new Map(PODS.map(({ key }) => [key, new Set<string>()]));
  for (const probe of probes) {
    const { seenBy, answer } = behaviour(probe);
    answers.set(probe.nonce, answer);
    for (const { key } of seenBy) seen.get(key)?.add(probe.nonce);
  }
  return { answers, seen };
};

export const answerOf = ({ protocol }: Probe, { hostname }: ReachabilityPod): Answer => ({
  answered: true,
  who: protocol === 'icmp' ? undefined : hostname,
  error: undefined,
  tries: 1,
});

/** Every tenant alone: an address leads to the pod that has it on a network that it shares with the sender. */
export const isolated: Behaviour = (probe) => {
  const from = PODS.find(({ key }) => key === probe.from);
  const owner = PODS.find(({ attachments }) =>
    attachments.some(
      ({ network, role, addresses }) =>
        role === 'primary' &&
        addresses.includes(probe.address) &&
        from?.attachments.some((own) => own.role === 'primary' && own.network === network),
    ),
  );
  return owner === undefined ? { seenBy: [], answer: SILENCE } : { seenBy: [owner], answer: answerOf(probe, owner) };
};
