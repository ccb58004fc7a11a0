import { describe, expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { addTenant, emptyCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { LOCAL } from '../../model/facts.ts';
import { DUAL, flowsOf } from '../../testing/bridge-flows.ts';
import type { NetworkInput, TestCluster } from '../../testing/cluster.ts';

const PORT = 'patch-red_lan_ovn_localnet_port-to-br-int';
const NETWORK: NetworkInput = {
  ...{ id: 7, topology: 'localnet', role: 'secondary', namespace: 'red', nad: 'lan', subnets: [] },
};
const withLocalnet = (physical: NetworkInput['physical'], bridge = 'br-ex'): TestCluster =>
  emptyCluster(DUAL)
    .network('red_lan', { ...NETWORK, physical })
    .mapped(physical?.name ?? '', bridge);

const added = (cluster: TestCluster): string[] => {
  const before = flowsOf(emptyCluster(DUAL));
  return flowsOf(cluster).filter((flow) => !before.includes(flow));
};
/** Of what all localnets share. */
const shared = (): string[] =>
  flowsOf(emptyCluster(DUAL))
    .filter((flow) => /reg3=0x(80|100)\/|table=27/.test(flow))
    .map((flow) => flow.replace('cookie=0xdeff105, table=', ''));

describe('a localnet behind the gateway bridge', () => {
  it.each([
    [{ name: 'physnet' }, '0x180'],
    [{ name: 'other', vlanId: 100 }, '0x80'],
  ])('%j adds one flow, which says whether it is where the node is', (physical, sender) => {
    expect(added(withLocalnet(physical))).toEqual([
      `cookie=0xdeff105, table=0, priority=720, in_port=${PORT},reg3=0, actions=set_field:${sender}->reg3,resubmit(,0)`,
    ]);
  });

  it('is where the node is when it has the VLAN of the node’s bridge', () => {
    const cluster = withLocalnet({ name: 'physnet', vlanId: 100 });
    const gateway = cluster.facts.get('gateway', 'node1');
    cluster.facts.set('gateway', 'node1', gateway && { ...gateway, vlanId: 100 });
    expect(flowsOf(cluster).filter((flow) => flow.includes(PORT))).toEqual([expect.stringContaining('0x180->reg3')]);
  });

  it('lacks nothing while its port is not there', () => {
    const cluster = withLocalnet({ name: 'physnet' });
    cluster.render();
    const flows = cluster.sinks.openflow.all().flatMap((item) => (item.kind === 'flow' ? [item.flow] : []));
    expect(flows.filter(({ inPort }) => inPort === PORT)).toMatchObject([{ mayLackPort: true }]);
  });

  it('has its flow also without a mapping, and behind another bridge: a port may be there before the mapping and after it', () => {
    const flows = added(withLocalnet({ name: 'dc' }));
    expect(flows).toHaveLength(1);
    expect(added(withLocalnet({ name: 'dc' }).mapped('dc', undefined))).toEqual(flows);
    expect(added(withLocalnet({ name: 'dc' }, 'br-dc'))).toEqual(flows);
  });
});

describe('what pods of localnets send', () => {
  const IN_NODES_VLAN = /^0, priority=640, (?!.*dl_src)(.*),?reg3=0x100\/0x100,?(.*), actions=drop$/;

  it('is never as a node, a next hop or a masquerade address, in ARP, neighbour discovery or as a source', () => {
    const dropped = shared().flatMap((flow) => {
      const [, before = '', after = ''] = IN_NODES_VLAN.exec(flow) ?? [];
      return before === '' && after === '' ? [] : [[before, after].filter((one) => one !== '').join(',')];
    });
    expect(dropped.map((one) => one.replaceAll(',,', ',')).sort()).toEqual(
      [
        ...['172.30.0.1', '172.30.0.2', '172.30.0.3', '169.254.0.0/17'].flatMap((of) => [
          `ip,nw_src=${of}`,
          `arp,arp_spa=${of}`,
        ]),
        ...['ip,nw_dst=169.254.0.0/17', 'arp,arp_tpa=169.254.0.0/17'],
        ...['fd00:30::1', 'fd00:30::2', 'fd00:30::3', 'fe80::ff:fe00:1', 'fe80::ff:fe00:2'].flatMap((of) => [
          `ipv6,ipv6_src=${of}`,
          `icmp6,icmp_type=136,icmp_code=0,nd_target=${of}`,
        ]),
        ...['ipv6,ipv6_src=fd69::/112', 'ipv6,ipv6_dst=fd69::/112'],
        ...[135, 136].map((type) => `icmp6,icmp_type=${type},icmp_code=0,nd_target=fd69::/112`),
        ...['udp,tp_dst=68', 'udp6,tp_dst=546', 'icmp6,icmp_type=134'],
        ...['ip,ct_state=-inv+trk,ct_nw_proto=17,ct_tp_dst=68', 'ipv6,ct_state=-inv+trk,ct_nw_proto=17,ct_tp_dst=546'],
      ].sort(),
    );
    expect(shared()).toContain('0, priority=640, reg3=0x80/0x80,dl_src=02:00:00:00:00:01, actions=drop');
  });

  const spoofed = (cluster: TestCluster): string[] =>
    flowsOf(cluster).flatMap(
      (flow) => /table=0, priority=640, (.*reg3=0x100\/0x100.*), actions=drop$/.exec(flow)?.[1] ?? [],
    );
  const more = (cluster: TestCluster): string[] => {
    const before = new Set(spoofed(emptyCluster(DUAL)));
    return spoofed(cluster)
      .filter((match) => !before.has(match))
      .map((match) => match.replace('reg3=0x100/0x100', '').replaceAll(',,', ',').replace(/^,|,$/g, ''))
      .sort();
  };

  it('is never as an address that the host has besides, also one that is not made of its MAC', () => {
    const cluster = emptyCluster(DUAL);
    const gateway = cluster.facts.get('gateway', 'node1');
    cluster.facts.set('hostAddresses', 'node1', [
      parseInterfaceAddress('172.30.0.99/24'),
      parseInterfaceAddress('fd00:30::99/64'),
    ]);
    cluster.facts.set('gateway', 'node1', gateway && { ...gateway, linkLocals: [parseIp('fe80::1234')] });
    expect(more(cluster)).toEqual([
      'arp,arp_spa=172.30.0.99',
      'icmp6,icmp_type=136,icmp_code=0,nd_target=fd00:30::99',
      'icmp6,icmp_type=136,icmp_code=0,nd_target=fe80::1234',
      'ip,nw_src=172.30.0.99',
      'ipv6,ipv6_src=fd00:30::99',
      'ipv6,ipv6_src=fe80::1234',
    ]);
  });

  it('is of no family that the cluster lacks: nobody here knows which addresses the host has in it', () => {
    expect(spoofed(emptyCluster({ ...DUAL, family: 'ipv4' }))).toContain('ipv6,reg3=0x100/0x100');
    expect(spoofed(emptyCluster({ ...DUAL, family: 'ipv6' }))).toEqual(
      expect.arrayContaining(['ip,reg3=0x100/0x100', 'arp,reg3=0x100/0x100']),
    );
    expect(spoofed(emptyCluster(DUAL))).not.toContain('ipv6,reg3=0x100/0x100');
  });

  it('has no MAC of a next hop, and no MAC and address of another node', () => {
    const cluster = emptyCluster(DUAL);
    cluster.facts.set('neighbours', LOCAL, [
      { ip: parseIp('172.30.0.1'), mac: parseMac('02:11:00:00:00:01') },
      { ip: parseIp('fd00:30::1'), mac: parseMac('02:11:00:00:00:01') },
      { ip: parseIp('172.30.0.77'), mac: parseMac('02:11:00:00:00:77') },
    ]);
    cluster.node('node3', { id: 4, encapIps: ['172.30.0.4'] }).gateway('node3', {
      ...{ mode: 'shared', addresses: ['172.30.0.4/24', 'fd00:30::4/64'], mac: '02:00:00:00:00:09' },
    });
    expect(more(cluster)).toEqual([
      'arp,arp_spa=172.30.0.4',
      'dl_src=02:00:00:00:00:09',
      'dl_src=02:11:00:00:00:01',
      'icmp6,icmp_type=136,icmp_code=0,nd_target=fd00:30::4',
      'icmp6,icmp_type=136,icmp_code=0,nd_target=fe80::ff:fe00:9',
      'ip,nw_src=172.30.0.4',
      'ipv6,ipv6_src=fd00:30::4',
      'ipv6,ipv6_src=fe80::ff:fe00:9',
    ]);
  });

  it('is put together first when it comes in fragments, apart from what comes from outside', () => {
    expect(shared().filter((flow) => flow.includes('nw_frag=yes'))).toEqual(
      ['ip', 'ipv6'].map(
        (family) =>
          `0, priority=645, ${family},ct_state=-trk,reg3=0x100/0x100,nw_frag=yes, actions=ct(table=0,zone=64005)`,
      ),
    );
  });

  it('comes to the node by its own table, and from there to the host and the default network only', () => {
    const toNode = shared().filter((flow) => flow.includes('dl_dst=02:00:00:00:00:01'));
    expect(toNode).toEqual([
      '0, priority=630, ip,reg3=0x100/0x100,dl_dst=02:00:00:00:00:01, actions=ct(table=27,zone=64000,nat)',
      '0, priority=630, ipv6,reg3=0x100/0x100,dl_dst=02:00:00:00:00:01, actions=ct(table=27,zone=64000,nat)',
      '0, priority=625, reg3=0x100/0x100,dl_dst=02:00:00:00:00:01, actions=output:patch-br-ex_node1-to-br-int,LOCAL',
    ]);
    expect(shared().filter((flow) => flow.startsWith('27'))).toEqual([
      '27, priority=30, icmp6,icmp_type=136, actions=output:patch-br-ex_node1-to-br-int,LOCAL',
      '27, priority=20, ct_state=+est+trk,ct_mark=0x1, actions=resubmit(,1)',
      '27, priority=20, ct_state=+est+trk,ct_mark=0x2, actions=resubmit(,1)',
      '27, priority=20, ct_state=+rel+trk,ct_mark=0x1, actions=resubmit(,1)',
      '27, priority=20, ct_state=+rel+trk,ct_mark=0x2, actions=resubmit(,1)',
      '27, priority=10, ct_state=+est+trk, actions=drop',
      '27, priority=10, ct_state=+rel+trk, actions=drop',
      '27, priority=0, actions=LOCAL',
    ]);
  });

  it('is taken out of the node’s VLAN where the node has one, and only what is in it', () => {
    const cluster = emptyCluster(DUAL);
    const gateway = cluster.facts.get('gateway', 'node1');
    cluster.facts.set('gateway', 'node1', gateway && { ...gateway, vlanId: 100 });
    const popping = flowsOf(cluster).filter((flow) => /reg3=0x100\/|table=27/.test(flow) && flow.includes('pop_vlan'));
    expect(popping.map((flow) => flow.replace('cookie=0xdeff105, table=', ''))).toEqual([
      '0, priority=625, dl_vlan=100,reg3=0x100/0x100,dl_dst=02:00:00:00:00:01, actions=output:patch-br-ex_node1-to-br-int,pop_vlan,LOCAL',
      '27, priority=30, icmp6,dl_vlan=100,icmp_type=136, actions=output:patch-br-ex_node1-to-br-int,pop_vlan,LOCAL',
      '27, priority=0, dl_vlan=100, actions=pop_vlan,LOCAL',
    ]);
  });

  it('is switched otherwise, and no flow of a tenant takes it', () => {
    expect(shared()).toContain('0, priority=620, reg3=0x80/0x80, actions=NORMAL');
    const one = addTenant(withLocalnet({ name: 'physnet' }), 'blue', 1, DUAL);
    const below = flowsOf(one).filter((flow) => Number(/table=0, priority=(\d+)/.exec(flow)?.[1]) > 640);
    const taking = below.filter((flow) => !/reg3=|in_port=|conj|actions=drop|conjunction/.test(flow));
    expect(taking).toEqual([]);
  });
});
