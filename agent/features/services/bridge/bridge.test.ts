import { describe, expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../../../net/cidr.ts';
import { addTenant, emptyCluster, type Variant, workedCluster } from '../../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../../testing/cluster.ts';

const V4: Variant = { topology: 'layer3', mode: 'shared', family: 'ipv4' };
const DUAL: Variant = { ...V4, family: 'dual' };
const WEB = { ips: ['172.16.1.7', 'fd00:10:96::7'], ports: ['TCP/80@30080'] };

const cluster = (variant: Variant = V4): TestCluster =>
  workedCluster(variant).namespace('blue', true).namespace('plain');

const flowsOf = (of: TestCluster): readonly string[] => of.render().openflow['br-ex'] ?? [];

/** With short names for what is the same everywhere. */
const added = (of: TestCluster, change: () => unknown): string[] => {
  const before = new Set(flowsOf(of));
  change();
  return flowsOf(of)
    .filter((flow) => !before.has(flow))
    .map((flow) =>
      flow
        .replace('cookie=0xdeff105, ', '')
        .replaceAll('patch-br-ex_blue_node1-to-br-int', 'blue')
        .replaceAll('patch-br-ex_node1-to-br-int', 'default')
        .replace('dl_src=02:00:00:00:00:01', 'as-node')
        .replace('move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[],set_field:02:00:00:00:00:01->eth_dst', 'to-router'),
    );
};

describe('a node port', () => {
  it('is its network’s on every address of the bridge, of the families that the Service has', () => {
    const of = cluster(DUAL);
    expect(added(of, () => of.service('blue/web', WEB))).toEqual([
      'table=0, priority=110, tcp,in_port=blue,as-node,nw_src=172.30.0.2,tp_src=30080, actions=ct(commit,zone=64000,exec(set_field:0x4->ct_mark,set_field:0x1->ct_label)),output:eth0',
      'table=0, priority=110, tcp6,in_port=blue,as-node,ipv6_src=fd00:30::2,tp_src=30080, actions=ct(commit,zone=64000,exec(set_field:0x4->ct_mark,set_field:0x1->ct_label)),output:eth0',
      'table=26, priority=10, tcp,nw_dst=172.30.0.2,tp_dst=30080, actions=output:blue',
      'table=26, priority=10, tcp6,ipv6_dst=fd00:30::2,tp_dst=30080, actions=output:blue',
    ]);
    const single = added(of, () => of.service('blue/four', { ips: ['172.16.1.8'], ports: ['UDP/53@30053', 'TCP/1'] }));
    expect(single).toHaveLength(2);
    expect(single.every((flow) => /, udp,/.test(flow))).toBe(true);
  });

  it('is at addresses that the node has for a while, too, and not by the bridge at those of other links', () => {
    const of = cluster();
    of.service('blue/web', WEB);
    const addresses = ['172.30.0.2/24', '172.30.0.99/32', '192.0.2.7/24'].map(parseInterfaceAddress);
    expect(added(of, () => of.facts.set('hostAddresses', 'node1', addresses))).toEqual(
      expect.arrayContaining([
        'table=0, priority=110, tcp,in_port=blue,as-node,nw_src=172.30.0.99,tp_src=30080, actions=ct(commit,zone=64000,exec(set_field:0x4->ct_mark,set_field:0x1->ct_label)),output:eth0',
        'table=26, priority=10, tcp,nw_dst=172.30.0.99,tp_dst=30080, actions=output:blue',
      ]),
    );
    expect(flowsOf(of).filter((flow) => flow.includes('192.0.2.7') && flow.includes('30080'))).toEqual([]);
  });

  it('goes with its Service, and with its number', () => {
    const of = cluster();
    const before = flowsOf(of);
    of.service('blue/web', WEB);
    expect(flowsOf(of)).not.toEqual(before);
    of.service('blue/web', { ...WEB, ports: ['TCP/80'] });
    expect(flowsOf(of)).toEqual(before);
    of.service('blue/web', WEB);
    of.facts.set('service', 'blue/web', undefined);
    expect(flowsOf(of)).toEqual(before);
  });

  it('of the default network comes by its patch port', () => {
    const of = cluster();
    const flows = added(of, () => of.service('plain/web', WEB));
    expect(flows.map((flow) => flow.includes('default'))).toEqual([true, true]);
  });

  it('is tagged as everything on the bridge is', () => {
    const of = cluster().gateway('node1', { addresses: ['172.30.0.2/24'], vlanId: 7 });
    const [answer, request] = added(of, () => of.service('blue/web', WEB));
    expect([answer, request].map((flow) => flow?.includes('dl_vlan=7'))).toEqual([false, true]);
  });
});

describe('an external address', () => {
  const PUBLIC = { ips: ['172.16.1.7'], ports: ['TCP/80'], externalIps: ['203.0.113.7'] };

  it('is its network’s from outside, from tenants and from the default network', () => {
    const of = cluster();
    expect(added(of, () => of.service('blue/web', PUBLIC))).toEqual([
      'table=0, priority=310, tcp,in_port=blue,as-node,nw_src=203.0.113.7,nw_dst=169.254.0.0/17,tp_src=80, actions=resubmit(,23)',
      'table=0, priority=301, tcp,in_port=default,as-node,nw_dst=203.0.113.7,tp_dst=80, actions=ct(commit,table=23,zone=64002,nat(src=169.254.0.1))',
      'table=0, priority=300, tcp,as-node,nw_src=169.254.0.0/17,nw_dst=203.0.113.7,tp_dst=80, actions=to-router,output:blue',
      'table=0, priority=110, tcp,in_port=blue,as-node,nw_src=203.0.113.7,tp_src=80, actions=ct(commit,zone=64000,exec(set_field:0x4->ct_mark,set_field:0x1->ct_label)),output:eth0',
      'table=0, priority=93, icmp,in_port=blue,as-node,nw_src=203.0.113.7,icmp_type=3, actions=output:eth0',
      'table=23, priority=30, tcp,nw_src=169.254.0.1,nw_dst=203.0.113.7,tp_dst=80, actions=to-router,output:blue',
      'table=26, priority=10, tcp,nw_dst=203.0.113.7,tp_dst=80, actions=output:blue',
    ]);
  });

  it('of a load balancer is the same, and counts once', () => {
    const [one, other, both] = [['203.0.113.7'], ['203.0.113.8'], ['203.0.113.7', '203.0.113.8']].map((ips) => {
      const of = cluster();
      return added(of, () => of.service('blue/web', { ...PUBLIC, externalIps: ['203.0.113.7'], loadBalancerIps: ips }));
    });
    expect(one).toHaveLength(7);
    expect(other).toHaveLength(14);
    expect(both).toEqual(other);
  });

  it('is spoken for by the network’s router as long as one of its Services has it', () => {
    const of = cluster().service('blue/web', PUBLIC);
    const errors = () =>
      flowsOf(of).filter((flow) => flow.includes('icmp_type=3') && flow.includes('nw_src=203.0.113.7'));
    const first = errors();
    expect(first).toHaveLength(1);
    of.service('blue/mail', { ...PUBLIC, ips: ['172.16.1.8'], ports: ['TCP/25'] });
    expect(errors()).toEqual(first);
    of.facts.set('service', 'blue/web', undefined);
    expect(errors()).toEqual(first);
    of.facts.set('service', 'blue/mail', undefined);
    expect(errors()).toEqual([]);
  });

  it('leaves the node for other networks when the Service stays on nodes that have endpoints', () => {
    const of = cluster();
    const local = { ...PUBLIC, externalTrafficPolicy: 'Local' } as const;
    const at = (node: string) => ({ ports: ['TCP/8080'], ready: [{ ip: '10.200.1.5', node }] });
    expect(added(of, () => of.service('blue/web', local).slices('blue/web', at('node2')))).toHaveLength(3);
    expect(added(of, () => of.slices('blue/web', at('node1')))).toHaveLength(4);
  });

  it.each([
    ['a ClusterIP', '172.16.1.9'],
    ['a pod of the default network', '10.128.2.3'],
    ['a masquerade address', '169.254.0.2'],
    ['a router', '100.64.0.2'],
    ['the node itself, as it calls itself', '127.0.0.1'],
  ])('that is %s is none', (_, ip) => {
    const of = cluster();
    of.service('blue/web', { ...PUBLIC, externalIps: [] });
    const nft = of.render().nftables;
    expect(added(of, () => of.service('blue/web', { ...PUBLIC, externalIps: [ip] }))).toEqual([]);
    expect(of.render().nftables).toBe(nft);
  });
});

it.each([
  ['in local gateway mode', () => cluster({ ...V4, mode: 'local' })],
  ['where nothing is outside', () => cluster().gateway('node1', { addresses: ['172.30.0.2/24'], uplink: null })],
  ['without the network', () => emptyCluster(V4).namespace('blue', true)],
  ['without its namespace', () => workedCluster(V4)],
])('there are none %s', (_, make) => {
  const of = make();
  expect(added(of, () => of.service('blue/web', { ...WEB, externalIps: ['203.0.113.7'] }))).toEqual([]);
});

it('no Service has a say in flows of another one, or of a network', () => {
  const of = cluster().service('blue/web', WEB);
  flowsOf(of);
  addTenant(of, 'red', 2, V4)
    .namespace('red', true)
    .service('red/web', { ...WEB, ports: ['TCP/80@30081'] });
  flowsOf(of);
  expect(of.flushes.at(-1)?.filter((owner) => owner.endsWith(':blue/web'))).toEqual([]);
});
