/** Rows of policies as a real ovn-northd reads them, and what ovn-trace(8) makes of packets then. */
import { expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import { denyGroupId } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { programZone } from '../../testing/programmed-zone.ts';

const PODS = [
  ['web', 3],
  ['client', 4],
  ['other', 5],
] as const;

const RULE: PolicyRuleFact = { network: 'blue', direction: 'Ingress', family: 4, peers: { kind: 'set', set: 's' } };

const cluster = (topology: 'layer2' | 'layer3'): TestCluster => {
  const it = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], blue: ['10.7.1.0/24', 'fd00:7:1::/64'] } })
    .network('blue', {
      ...{ id: 7, topology, namespace: 'blue', nad: 'net' },
      subnets: topology === 'layer3' ? ['10.7.0.0/16', 'fd00:7::/48'] : ['10.7.1.0/24', 'fd00:7:1::/64'],
      ...(topology === 'layer2' && { tunnelKeys: [16_711_699, 16_711_700] }),
    });
  for (const [name, host] of PODS) {
    const ips = [`10.7.1.${host}/24`, `fd00:7:1::${host}/64`];
    it.pod(`blue/${name}`, {
      node: 'node1',
      networks: { 'blue/net': { ips, role: 'primary', ...(topology === 'layer2' && { tunnelId: host }) } },
    });
  }
  return it;
};

/** `web` lets `client` in at some ports, and everybody of a block at another one. */
const isolate = ({ facts }: TestCluster): void => {
  const blocks = Array.from({ length: 9 }, (_, index) => parseCidr(`10.7.${index * 2 + 1}.5/32`));
  const rules: Record<string, PolicyRuleFact> = {
    four: { ...RULE, l4: { protocol: 'tcp', ports: [80, 443, [90, 95]] } },
    six: { ...RULE, family: 6, l4: { protocol: 'udp', ports: [[53, 53]] } },
    block: { ...RULE, peers: { kind: 'blocks', blocks }, l4: { protocol: 'sctp' } },
    any: { ...RULE, direction: 'Egress', peers: { kind: 'blocks', blocks: [parseCidr('0.0.0.0/0')] }, stateless: true },
    few: { ...RULE, peers: { kind: 'blocks', blocks: blocks.slice(0, 2) }, l4: { protocol: 'tcp', ports: [7] } },
  };
  for (const [id, rule] of Object.entries(rules)) facts.set('policyRule', id, rule);
  const group = { network: 'blue', log: { namespace: 'blue', severity: 'info' } } as const;
  facts.set('denyGroup', denyGroupId(group), group);
  facts.set('peerSet', 's', { network: 'blue', families: [4, 6], selects: 'client' });
  facts.set('policyPeer', 'blue/client', { sets: new Map([['s', ['10.7.1.4', 'fd00:7:1::4'].map(parseIp)]]) });
  const policy = { network: 'blue', isolated: ['Ingress', 'Egress'] as const, denyGroup: denyGroupId(group) };
  facts.set('podPolicy', 'blue/web', { ...policy, rules: Object.keys(rules) });
};

const mac = (host: number): string => `0a:58:0a:07:01:0${host}`;

const flow = (from: string, host: number, to: number, rest: string): string =>
  [
    `inport == "${from}"`,
    `eth.src == ${mac(host)}`,
    `eth.dst == ${mac(to)}`,
    ...(rest.includes('ip6')
      ? [`ip6.src == fd00:7:1::${host}`, `ip6.dst == fd00:7:1::${to}`]
      : [`ip4.src == 10.7.1.${host}`, `ip4.dst == 10.7.1.${to}`]),
    'ip.ttl == 64',
    rest.replace('ip6 && ', ''),
  ].join(' && ');

const portOf = (pod: string): string => `blue.net_blue_${pod}`;

it.each(['layer3', 'layer2'] as const)(
  'ovn-northd lets through on %s what rules allow, and nothing else',
  async (topology) => {
    const it = cluster(topology);
    isolate(it);
    await using programmed = await programZone(it);
    const { zone } = programmed;
    const onSwitch = topology === 'layer2' ? 'blue_ovn_layer2_switch' : 'blue_node1';
    const arrives = async (
      from: string,
      host: number,
      to: readonly [string, number],
      rest: string,
    ): Promise<boolean> => {
      const lines = await zone.trace(onSwitch, flow(from, host, to[1], rest));
      return lines.some((line) => line.includes('output') && line.includes(portOf(to[0])));
    };
    const [web, other] = [
      ['web', 3],
      ['other', 5],
    ] as const;
    const from = (pod: string, host: number, rest: string) => arrives(portOf(pod), host, web, rest);
    expect({
      allowed: await from('client', 4, 'tcp.dst == 80'),
      inRange: await from('client', 4, 'tcp.dst == 95'),
      otherPort: await from('client', 4, 'tcp.dst == 96'),
      otherPod: await from('other', 5, 'tcp.dst == 80'),
      block: await from('other', 5, 'sctp.dst == 80'),
      fewBlocks: await from('other', 5, 'tcp.dst == 7'),
      six: await from('client', 4, 'ip6 && udp.dst == 53'),
      sixOther: await from('other', 5, 'ip6 && udp.dst == 53'),
      node: await arrives(`k8s-${onSwitch === 'blue_node1' ? onSwitch : 'blue_node1'}`, 2, web, 'tcp.dst == 9999'),
      egress: await arrives(portOf('web'), 3, other, 'tcp.dst == 9999'),
      egressSix: await arrives(portOf('web'), 3, other, 'ip6 && tcp.dst == 9999'),
      notIsolated: await arrives(portOf('client'), 4, other, 'tcp.dst == 9999'),
    }).toEqual({
      ...{ allowed: true, inRange: true, otherPort: false, otherPod: false, block: true, fewBlocks: true },
      ...{ six: true, sixOther: false, node: true, egress: true, egressSix: false, notIsolated: true },
    });
  },
);
