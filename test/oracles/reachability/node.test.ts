import { expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import { evaluateNodeProbes } from './evaluate-node.ts';
import { type NodeProbe, type NodeSource, planNodeProbes } from './node-plan.ts';
import type { Answer, Attachment, ReachabilityPod } from './types.ts';

const attachment = (network: string, role: Attachment['role'], ...addresses: string[]): Attachment => ({
  network,
  role,
  addresses: addresses.map(parseIp),
});
const PODS: readonly ReachabilityPod[] = [
  {
    ...{ key: 'red/a', hostname: 'a', node: 'node-1' },
    attachments: [
      attachment('red_net', 'primary', '10.80.0.3', 'fd00:80::3'),
      attachment('default', 'infrastructure-locked', '10.128.0.3', 'fd00:10:128::3'),
    ],
  },
  { key: 'plain/b', hostname: 'b', node: 'node-1', attachments: [attachment('default', 'primary', '10.128.0.4')] },
];
const LINKS = [
  { network: 'default', device: 'ovn-k8s-mp0', broadcast: parseIp('10.128.0.255') },
  { network: 'red_net', device: 'ovn-k8s-mp1', broadcast: undefined },
];
const NOBODY: NodeSource = {
  name: 'root',
  mayReach: ({ role, network }) => role === 'primary' && network === 'default',
};
const KUBELET: NodeSource = { name: 'kubelet', mayReach: ({ network }) => network === 'default' };

const plan = (source: NodeSource): readonly NodeProbe[] => planNodeProbes(source, PODS, LINKS, 'r');
const yes: Answer = { answered: true, who: 'a', error: undefined, tries: 1 };
const find = (probes: readonly NodeProbe[], address: string, protocol = 'udp'): NodeProbe => {
  const found = probes.find((one) => one.address === address && one.protocol === protocol);
  if (found === undefined) throw new Error(`nothing to ${address}`);
  return found;
};
/** As if everything that is expected came, and this besides. */
const evaluated = (source: NodeSource, more: readonly (readonly [string, string])[]): readonly string[] => {
  const probes = plan(source);
  const answers = new Map(probes.filter(({ isExpected }) => isExpected).map(({ nonce }) => [nonce, yes]));
  const seen = Map.groupBy(more, ([pod]) => pod);
  const nonces = [...seen].map(
    ([pod, all]) => [pod, new Set(all.map(([, address]) => find(probes, address).nonce))] as const,
  );
  return evaluateNodeProbes(PODS, probes, { answers, seen: new Map(nonces) });
};

it('asks for every address, by the link where it needs one', () => {
  const probes = plan(NOBODY).map(({ address, device = 'any', protocol }) => `${protocol} ${address}%${device}`);
  expect(new Set(probes).size).toBe(probes.length);
  expect(probes).toEqual(
    expect.arrayContaining([
      'tcp 10.80.0.3%ovn-k8s-mp1',
      'tcp 10.128.0.3%any',
      'tcp fe80::858:aff:fe80:3%ovn-k8s-mp0',
      'udp fe80::858:aff:fe50:3%ovn-k8s-mp1',
      'udp 224.0.0.1%ovn-k8s-mp0',
      'icmp ff02::1%ovn-k8s-mp1',
      'udp 10.128.0.255%ovn-k8s-mp0',
    ]),
  );
  expect(probes).not.toContain('tcp 224.0.0.1%ovn-k8s-mp0');
});

it('is content when pods get what they may', () => {
  expect(
    evaluated(NOBODY, [
      ['plain/b', '10.128.0.4'],
      ['plain/b', '224.0.0.1'],
    ]),
  ).toEqual([]);
  expect(evaluated(KUBELET, [['red/a', '10.128.0.3']])).toEqual([]);
});

it('reports who got what he may not', () => {
  expect(evaluated(NOBODY, [['red/a', '10.128.0.3']])).toEqual(['root → red/a at 10.128.0.3, IPv4 udp: red/a got it']);
  expect(evaluated(NOBODY, [['red/a', '224.0.0.1']])).toEqual([
    'root → everybody at 224.0.0.1%ovn-k8s-mp0, IPv4 udp: red/a got it',
  ]);
  // The kubelet has no business with groups either.
  expect(evaluated(KUBELET, [['red/a', '224.0.0.1']])).toHaveLength(1);
});

it('reports what was not answered, and what was without anybody having seen it', () => {
  const probes = plan(KUBELET);
  expect(evaluateNodeProbes(PODS, probes, { answers: new Map(), seen: new Map() })).toContain(
    'kubelet → red/a at 10.128.0.3, IPv4 tcp: no answer',
  );
  const leak = plan(NOBODY).find(({ address, protocol }) => address === '10.80.0.3' && protocol === 'tcp');
  const answers = new Map(
    plan(NOBODY).map((one) => [
      one.nonce,
      one.isExpected || one === leak ? yes : { ...yes, answered: one.nonce === leak?.nonce },
    ]),
  );
  expect(evaluateNodeProbes(PODS, plan(NOBODY), { answers, seen: new Map() })).toEqual([
    'root → red/a at 10.80.0.3%ovn-k8s-mp1, IPv4 tcp: it was answered',
  ]);
});
