import { describe, expect, it } from 'vitest';
import type { Action } from '../../../datapath/openflow/types.ts';
import { addTenant, emptyCluster, workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { flowText } from '../../render/openflow-document.ts';
import { DUAL, flowsOf, isClause, isSender, isShared, onKernel, PATCH } from '../../testing/bridge-flows.ts';
import { TestCluster } from '../../testing/cluster.ts';

const isOutput = (action: Action, port: string): boolean => typeof action !== 'string' && action.output === port;

describe('a tenant network', () => {
  it('leaves with the node’s address only as its own masquerade address, and else not at all', () => {
    const cluster = onKernel(workedCluster(DUAL));
    cluster.render();
    const leaving = cluster.sinks.openflow
      .all()
      .flatMap((item) => (item.kind === 'flow' ? [item.flow] : []))
      .filter((flow) => flow.inPort === PATCH || isShared(flowText(flow)))
      .filter(({ actions }) => actions.some((action) => isOutput(action, 'eth0') || action === 'resubmit(,20)'));
    expect(
      leaving.map((flow) =>
        flowText(flow)
          .replace(`in_port=${PATCH}`, 'blue')
          .replace('dl_src=02:00:00:00:00:01', 'as node')
          .replace(/learn\([^)]*\)/, 'learn()'),
      ),
    ).toEqual([
      // From any network that has the family, by a mark of OVN.
      'cookie=0xdeff105, table=0, priority=105, ip,as node,reg3=0x5/0x5,pkt_mark=0x3f0, actions=ct(commit,zone=64000,nat(src=172.30.0.2:32768-65535),exec(move:reg2[]->ct_mark[])),output:eth0',
      // From a tenant’s masquerade address, and from its router’s.
      'cookie=0xdeff105, table=0, priority=100, ip,as node,reg3=0x20/0x20, actions=ct(commit,zone=64000,nat(src=172.30.0.2:32768-65535),exec(move:reg2[]->ct_mark[])),output:eth0',
      'cookie=0xdeff105, table=0, priority=100, ip,as node,reg3=0x10/0x10, actions=ct(commit,zone=64000,nat(src=172.30.0.2:32768-65535),exec(move:reg2[]->ct_mark[])),output:eth0',
      'cookie=0xdeff105, table=0, priority=95, arp,as node,reg3=0x6/0x6,arp_op=1,arp_spa=172.30.0.2,arp_sha=02:00:00:00:00:01, actions=resubmit(,20)',
      'cookie=0xdeff105, table=0, priority=93, icmp,as node,reg3=0x44/0x44,nw_src=172.30.0.2,icmp_type=3, actions=output:eth0',
      'cookie=0xdeff105, table=0, priority=105, ipv6,as node,reg3=0x9/0x9,pkt_mark=0x3f0, actions=ct(commit,zone=64000,nat(src=[fd00:30::2]:32768-65535),exec(move:reg2[]->ct_mark[])),output:eth0',
      'cookie=0xdeff105, table=0, priority=100, ipv6,as node,reg3=0x20/0x20, actions=ct(commit,zone=64000,nat(src=[fd00:30::2]:32768-65535),exec(move:reg2[]->ct_mark[])),output:eth0',
      'cookie=0xdeff105, table=0, priority=100, ipv6,as node,reg3=0x10/0x10, actions=ct(commit,zone=64000,nat(src=[fd00:30::2]:32768-65535),exec(move:reg2[]->ct_mark[])),output:eth0',
      'cookie=0xdeff105, table=0, priority=95, icmp6,as node,reg3=0xa/0xa,icmp_type=135,icmp_code=0,nd_sll=02:00:00:00:00:01,ipv6_src=fe80::ff:fe00:1, actions=resubmit(,20)',
      'cookie=0xdeff105, table=0, priority=95, icmp6,as node,reg3=0xa/0xa,icmp_type=135,icmp_code=0,nd_sll=02:00:00:00:00:01,ipv6_src=fd00:30::2, actions=resubmit(,20)',
      'cookie=0xdeff105, table=0, priority=93, icmp6,as node,reg3=0x48/0x48,ipv6_src=fd00:30::2,icmp_type=1, actions=output:eth0',
      'cookie=0xdeff105, table=0, priority=93, icmp6,as node,reg3=0x48/0x48,ipv6_src=fd00:30::2,icmp_type=2, actions=output:eth0',
      'cookie=0xdeff105, table=20, priority=10, arp,blue, actions=learn(),output:eth0',
      'cookie=0xdeff105, table=20, priority=10, icmp6,blue,icmp_type=135, actions=learn(),output:eth0',
    ]);
    const into = flowsOf(cluster).filter((flow) => flow.includes('resubmit(,20)'));
    expect(into.filter((flow) => !flow.includes(`table=0, priority=95, `))).toEqual([]);
    expect(flowsOf(cluster)).toContain('cookie=0xdeff105, table=0, priority=90, reg3=0x2/0x2, actions=drop');
    // Of localnets' pods, which are no network: `localnet-flows.test.ts`.
    const shared = (flow: string): boolean => isShared(flow) && !/reg3=0x(80|100)\//.test(flow);
    const own = flowsOf(cluster).filter((flow) => shared(flow) || flow.includes(`in_port=${PATCH}`));
    expect(own.filter((flow) => /NORMAL|FLOOD/.test(flow))).toEqual([]);
  });

  it('meets no flow of the node below its drop that would take it without regard to the port', () => {
    const open = flowsOf(workedCluster(DUAL)).filter(
      (flow) => /table=0, priority=\d+/.test(flow) && !/in_port=|reg3=/.test(flow) && !isClause(flow),
    );
    const above = open.filter((flow) => Number(/priority=(\d+)/.exec(flow)?.[1]) > 90);
    expect(above.every((flow) => flow.endsWith('actions=drop'))).toBe(true);
  });

  it('has no flows while it has no part on this node', () => {
    const cluster = addTenant(emptyCluster(DUAL), 'blue', 1, DUAL);
    cluster.subnets('node1', 'blue', []);
    expect(cluster.render().openflow).toEqual(emptyCluster(DUAL).render().openflow);
    expect(cluster.render().noFlood).toEqual({});
  });

  it('has only the families that it and the bridge have', () => {
    const cluster = addTenant(emptyCluster({ mode: 'shared', family: 'ipv4' }), 'blue', 1, DUAL);
    // Pods of localnets send none where the node is.
    expect(flowsOf(cluster).filter((flow) => /ipv6|icmp6/.test(flow))).toEqual([
      'cookie=0xdeff105, table=0, priority=640, ipv6,reg3=0x100/0x100, actions=drop',
    ]);
    const none = addTenant(emptyCluster({ mode: 'shared', family: 'ipv4' }), 'blue', 1, { ...DUAL, family: 'ipv6' });
    expect(flowsOf(none)).toEqual(flowsOf(emptyCluster({ mode: 'shared', family: 'ipv4' })));
  });
});

describe('what conntrack could not translate', () => {
  it.each(['shared', 'local'] as const)('does not leave by the userspace datapath, %s mode', (mode) => {
    const flows = flowsOf(workedCluster({ ...DUAL, mode }));
    const translating = flows.filter((flow) => /zone=64000,nat\(src=/.test(flow));
    expect(translating).not.toEqual([]);
    expect(translating.filter((flow) => !/actions=ct\(commit,table=25,[^ ]*\)$/.test(flow))).toEqual([]);
    expect(flows.filter((flow) => flow.includes('table=25, ')).map((flow) => flow.split('table=25, ')[1])).toEqual([
      'priority=40, ct_state=-inv+trk,ct_mark=0, actions=drop',
      'priority=30, ip,in_port=LOCAL,nw_src=172.30.0.2,nw_dst=172.30.0.0/24, actions=NORMAL',
      ...(mode === 'local'
        ? []
        : [
            'priority=30, ip,in_port=patch-br-ex_node1-to-br-int,nw_src=172.30.0.2,nw_dst=172.30.0.0/24, actions=NORMAL',
          ]),
      'priority=30, ipv6,in_port=LOCAL,ipv6_src=fd00:30::2,ipv6_dst=fd00:30::/64, actions=NORMAL',
      ...(mode === 'local'
        ? []
        : [
            'priority=30, ipv6,in_port=patch-br-ex_node1-to-br-int,ipv6_src=fd00:30::2,ipv6_dst=fd00:30::/64, actions=NORMAL',
          ]),
      'priority=20, ip,in_port=LOCAL,nw_src=172.30.0.2, actions=output:eth0',
      'priority=20, ipv6,in_port=LOCAL,ipv6_src=fd00:30::2, actions=output:eth0',
      'priority=10, ip,nw_src=172.30.0.2, actions=output:eth0',
      'priority=10, ipv6,ipv6_src=fd00:30::2, actions=output:eth0',
    ]);
  });

  it('is dropped by the kernel itself: packets go no further way there', () => {
    expect(flowsOf(onKernel(workedCluster(DUAL))).filter((flow) => flow.includes('table=25'))).toEqual([]);
  });
});

describe('a port that no flow knows', () => {
  const NODE_MAC = 'dl_src=02:00:00:00:00:01';
  const classified = (): { readonly priority: number; readonly text: string }[] =>
    flowsOf(workedCluster(DUAL))
      .filter((flow) => flow.includes('table=0,') && !/in_port=|reg3=/.test(flow) && !isClause(flow))
      .map((text) => ({ priority: Number(/priority=(\d+)/.exec(text)?.[1]), text }));

  it('sends nothing as the node: it is a network’s patch port whose flows are not there yet, or no more', () => {
    const drop = classified().find(({ text }) => text.endsWith(`${NODE_MAC}, actions=drop`));
    expect(drop?.priority).toBe(13);
    const reaching = classified().filter(
      ({ priority, text }) => priority > 13 && !text.endsWith('actions=drop') && !text.includes('dl_dst=02:00'),
    );
    expect(reaching).toEqual([]);
  });

  it('is one of a switch where somebody has put it there, with another MAC', () => {
    expect(classified().map(({ text }) => text)).toContain('cookie=0xdeff105, table=0, priority=0, actions=NORMAL');
  });

  it('is not that of the host or of the default network', () => {
    const asNode = flowsOf(workedCluster(DUAL)).filter((flow) => flow.includes('priority=14, in_port='));
    expect(asNode.map((flow) => /in_port=([^,]+),(.*)$/.exec(flow)?.slice(1))).toEqual([
      ['LOCAL', `${NODE_MAC}, actions=NORMAL`],
      ['patch-br-ex_node1-to-br-int', `${NODE_MAC}, actions=NORMAL`],
    ]);
  });
});

it('a fragment from outside goes through conntrack once', () => {
  const fragments = flowsOf(emptyCluster(DUAL)).filter((flow) => /in_port=eth0.*nw_frag=yes/.test(flow));
  expect(fragments).toHaveLength(2);
  for (const flow of fragments) expect(flow).toMatch(/ct_state=-trk.*ct\(table=0,zone=64004\)$/);
  // Hosts of two VLANs may have the same addresses.
  for (const flow of fragments) expect(flow).toMatch(/vlan_tci=0x0000\/0x1fff/);
});

it('masquerade addresses neither come from the outside nor go there from the host', () => {
  // Before what networks of this node say to each other by them: 300 and 310.
  const flows = flowsOf(emptyCluster(DUAL)).filter((flow) => /priority=(120|320), /.test(flow));
  const of = (port: string) =>
    flows
      .filter((flow) => flow.includes(`in_port=${port},`))
      .map((flow) => flow.split(', ')[3])
      .toSorted();
  expect(of('LOCAL')).toEqual([
    'arp,in_port=LOCAL,arp_tpa=169.254.0.0/17',
    'icmp6,in_port=LOCAL,icmp_type=135,icmp_code=0,nd_target=fd69::/112',
    'ip,in_port=LOCAL,nw_src=169.254.0.0/17',
    'ipv6,in_port=LOCAL,ipv6_src=fd69::/112',
  ]);
  expect(of('eth0')).toEqual([
    'arp,in_port=eth0,arp_tpa=169.254.0.0/17',
    'icmp6,in_port=eth0,icmp_type=135,icmp_code=0,nd_target=fd69::/112',
    'ip,in_port=eth0,nw_src=169.254.0.0/17',
    'ipv6,in_port=eth0,ipv6_src=fd69::/112',
  ]);
});

describe('the bridge', () => {
  const cluster = (gateway: Parameters<TestCluster['gateway']>[1]) =>
    new TestCluster('node1')
      .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], blue: ['10.200.1.0/24'] } })
      .gateway('node1', gateway)
      .network('blue', { id: 1, topology: 'layer3', subnets: ['10.200.0.0/16'], namespace: 'blue', nad: 'net' });

  it('tags and untags what goes between the host and its VLAN', () => {
    const flows = flowsOf(cluster({ addresses: ['172.30.0.2/24'], vlanId: 7 }));
    expect(flows).toEqual(
      expect.arrayContaining([
        'cookie=0xdeff105, table=0, priority=10, dl_vlan=7,dl_dst=02:00:00:00:00:01, actions=output:patch-br-ex_node1-to-br-int,resubmit(,21),pop_vlan,LOCAL',
        'cookie=0xdeff105, table=2, priority=100, actions=move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[],set_field:02:00:00:00:00:01->eth_dst,push_vlan:0x8100,set_field:4103->vlan_vid,output:patch-br-ex_node1-to-br-int',
      ]),
    );
    const bare = flows.filter((flow) => /LOCAL$/.test(flow) && !flow.includes('pop_vlan'));
    expect(bare).toEqual([]);
  });

  it('lets nothing out without an uplink, and serves the host all the same', () => {
    const flows = flowsOf(cluster({ addresses: ['172.30.0.2/24'], mode: 'local', uplink: null }));
    expect(flows.filter((flow) => flow.includes('eth0'))).toEqual([]);
    expect(flows).toContain(
      'cookie=0xdeff105, table=0, priority=500, ip,in_port=LOCAL,nw_dst=172.16.1.0/24, actions=ct(commit,table=2,zone=64001,nat(src=169.254.0.2))',
    );
    expect(flows.some((flow) => isSender(flow, PATCH))).toBe(true);
    expect(flows).toContain('cookie=0xdeff105, table=0, priority=90, reg3=0x2/0x2, actions=drop');
  });

  it('takes all addresses of the host for its own', () => {
    const flows = flowsOf(
      cluster({
        addresses: ['172.30.0.2/24', '172.31.0.2/24'],
        hostAddresses: ['172.30.0.2/24', '172.31.0.2/24', '10.9.9.9/24'],
      }),
    );
    const extra = flows.filter((flow) => flow.includes('priority=500, ip,reg3=0x5/0x5,nw_src=172.30.0.2,nw_dst'));
    expect(extra.map((flow) => /nw_dst=([0-9.]+)/.exec(flow)?.[1])).toEqual(['10.9.9.9', '172.31.0.2']);
    expect(flows.filter((flow) => flow.includes('priority=12,'))).toHaveLength(2);
    expect(flows.filter((flow) => flow.includes('priority=95,'))).toHaveLength(2);
  });

  it('looks at the size of replies in local mode, by each network’s MTU, where the datapath can', () => {
    const local = cluster({ addresses: ['172.30.0.2/24'], mode: 'local' });
    expect(flowsOf(local).filter((flow) => flow.includes('check_pkt_larger(1414)'))).toHaveLength(4);
    const fact = local.facts.get('node', 'node1');
    local.facts.set('node', 'node1', fact && { ...fact, gatewayMtuSupport: false });
    expect(flowsOf(local).filter((flow) => /check_pkt_larger|table=11/.test(flow))).toEqual([]);
  });

  it('has no flows while the gateway is not known', () => {
    const unknown = workedCluster(DUAL);
    unknown.facts.set('gateway', 'node1', undefined);
    expect(Object.keys(unknown.render().openflow)).toEqual(['br-int']);
  });
});
