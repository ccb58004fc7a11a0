import { describe, expect, it } from 'vitest';
import type { Action } from '../../../datapath/openflow/types.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { addTenant, emptyCluster, type Variant, workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { type GatewayFact, LOCAL } from '../../model/facts.ts';
import { flowText } from '../../render/openflow-document.ts';
import { TestCluster } from '../../testing/cluster.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
const PATCH = 'patch-br-ex_blue_node1-to-br-int';

const flowsOf = (cluster: TestCluster): string[] => [...(cluster.render().openflow['br-ex'] ?? [])];
const isOutput = (action: Action, port: string): boolean => typeof action !== 'string' && action.output === port;
/** Of a conjunctive match: it does nothing by itself. */
const isClause = (text: string): boolean => /actions=conjunction\(1,[0-9]\/3\)$/.test(text);

/** Its datapath is the kernel's. */
const onKernel = (cluster: TestCluster): TestCluster => {
  const gateway = cluster.facts.get('gateway', 'node1') as GatewayFact;
  cluster.facts.set('gateway', 'node1', { ...gateway, cannotAdvertise: true });
  return cluster;
};

/** Of `senders`: this one, or all. */
const isSender = (text: string, port = ''): boolean =>
  /table=0, priority=7[23]0, /.test(text) && text.includes(`in_port=${port}`);
/** Matches what a network has sent, whichever it is. */
const isShared = (text: string): boolean => /\breg3=0x[0-9a-f]+\/0x[0-9a-f]+\b/.test(text);

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
    const own = flowsOf(cluster).filter((flow) => isShared(flow) || flow.includes(`in_port=${PATCH}`));
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
    expect(flowsOf(cluster).filter((flow) => /ipv6|icmp6/.test(flow))).toEqual([]);
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

describe('tunnels of nodes', () => {
  const clauses = (cluster: TestCluster): Map<string, string[]> => {
    const flows = flowsOf(cluster).filter((flow) => flow.includes('priority=710, '));
    const [, ...parts] = flows.map((flow) => /priority=710, (.*), actions=(.*)$/.exec(flow)?.slice(1) ?? []);
    const grouped = Map.groupBy(parts, ([, action = '']) => action);
    return new Map([...grouped].map(([action, of]) => [action, of.map(([match = '']) => match)]));
  };
  const PORTS = [
    'udp,tp_dst=6081',
    'udp,tp_dst=4789',
    'tcp,tp_dst=7471',
    'udp,tp_dst=0,nw_frag=first',
    'tcp,tp_dst=0,nw_frag=first',
  ];

  it.each(['shared', 'local'] as const)('are reached by no network, the default one included, %s mode', (mode) => {
    const cluster = workedCluster({ ...DUAL, mode });
    cluster.gateway('node2', {
      mode,
      addresses: ['172.30.0.3/24', 'fd00:30::3/64'],
      hostAddresses: ['172.30.0.3/24', '10.9.9.9/24', 'fd00:30::3/64'],
    });
    const fact = cluster.facts.get('node', 'node2');
    cluster.facts.set('node', 'node2', fact && { ...fact, encapIps: [parseIp('10.8.8.8')] });
    expect(flowsOf(cluster)).toContain('cookie=0xdeff105, table=0, priority=710, conj_id=1, actions=drop');
    const found = clauses(cluster);
    expect([...found.keys()].sort()).toEqual(['conjunction(1,1/3)', 'conjunction(1,2/3)', 'conjunction(1,3/3)']);
    // All networks: `senders` says of each that it is one.
    expect(found.get('conjunction(1,1/3)')).toEqual(['reg3=0x1/0x1']);
    const senders = flowsOf(cluster).filter((flow) => isSender(flow));
    expect(senders).not.toEqual([]);
    expect(senders.filter((flow) => !/:0x[0-9a-f]*[13579bdf]->reg3/.test(flow))).toEqual([]);
    expect(found.get('conjunction(1,2/3)')?.toSorted()).toEqual(
      [
        ...['169.254.0.0/17', '172.30.0.2', '172.30.0.3', '10.9.9.9', '10.8.8.8'].map((dst) => `ip,nw_dst=${dst}`),
        ...['fd69::/112', 'fd00:30::2', 'fd00:30::3'].map((dst) => `ipv6,ipv6_dst=${dst}`),
      ].sort(),
    );
    const sorted = (text: string): string => text.split(',').sort().join(',');
    expect(found.get('conjunction(1,3/3)')?.map(sorted).sort()).toEqual(
      [...PORTS, ...PORTS.map((match) => match.replace(/^(udp|tcp)/, '$16'))].map(sorted).sort(),
    );
  });

  it('come before every flow that takes a packet of a network', () => {
    const flows = flowsOf(workedCluster(DUAL)).filter((flow) => /table=0, .*(in_port=patch-|reg3=)/.test(flow));
    const taking = flows.filter((flow) => !isSender(flow) && !isClause(flow));
    expect(Math.max(...taking.map((flow) => Number(/priority=(\d+)/.exec(flow)?.[1])))).toBeLessThan(710);
    // What comes before them only says who sends.
    const before = flows.filter((flow) => isSender(flow)).map((flow) => flow.split('actions=')[1]);
    expect(
      before.filter((of) => !/^set_field:0x\w+->reg2,set_field:0x\w+->reg3,resubmit\(,0\)$/.test(of ?? '')),
    ).toEqual([]);
  });

  it('are as many flows more as a node has addresses', () => {
    const before = flowsOf(workedCluster(DUAL)).length;
    const cluster = workedCluster(DUAL).node('node3', { id: 4, encapIps: ['172.30.0.4'] });
    expect(flowsOf(cluster).length - before).toBe(1);
  });
});

describe('neighbours outside', () => {
  const known = (cluster: TestCluster, ...neighbours: (readonly [string, string])[]): TestCluster => {
    const facts = neighbours.map(([ip, mac]) => ({ ip: parseIp(ip), mac: parseMac(mac) }));
    cluster.facts.set('neighbours', LOCAL, facts);
    return cluster;
  };
  const questions = (cluster: TestCluster): string[] =>
    flowsOf(cluster).filter((flow) => flow.includes('table=20, priority=20, '));
  const GATEWAY = ['172.30.0.1', '0a:00:00:00:00:01'] as const;
  const GATEWAY6 = ['fd00:30::1', '0a:00:00:00:00:01'] as const;

  it('that the node knows answer by a flow each, however many networks ask', () => {
    const cluster = known(workedCluster(DUAL), GATEWAY, GATEWAY6);
    const one = questions(cluster);
    expect(one).toEqual([
      'cookie=0xdeff105, table=20, priority=20, arp,arp_op=1,arp_tpa=172.30.0.1, actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:0a:00:00:00:00:01->eth_src,resubmit(,22)',
      'cookie=0xdeff105, table=20, priority=20, icmp6,icmp_type=135,icmp_code=0,nd_target=fd00:30::1, actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:0a:00:00:00:00:01->eth_src,set_field:136->icmpv6_type,resubmit(,22)',
    ]);
    for (let id = 2; id < 20; id += 1) addTenant(cluster, `n${id}`, id, DUAL);
    expect(questions(cluster)).toEqual(one);
  });

  it('with another MAC change a flow each, and nothing else', () => {
    const cluster = known(workedCluster(DUAL), GATEWAY, GATEWAY6);
    const before = flowsOf(cluster);
    const after = flowsOf(known(cluster, ['172.30.0.1', '0a:00:00:00:00:02'], GATEWAY6));
    expect(after).toHaveLength(before.length);
    expect(after.filter((flow) => !before.includes(flow))).toHaveLength(1);
  });

  it('are not asked for anybody by a bridge without an uplink, nor in a family that it has not', () => {
    const ipv4 = known(workedCluster({ ...DUAL, family: 'ipv4' }), GATEWAY, GATEWAY6);
    expect(questions(ipv4)).toHaveLength(1);
    const inside = ipv4.gateway('node1', { addresses: ['172.30.0.2/24'], uplink: null });
    expect(flowsOf(inside).filter((flow) => /table=2[012]/.test(flow))).toEqual([]);
  });

  it('are asked for outside, IPv6 ones, where no flow can make an advertisement', () => {
    const cluster = onKernel(known(workedCluster(DUAL), GATEWAY, GATEWAY6));
    expect(questions(cluster)).toEqual([expect.stringContaining('arp_tpa=172.30.0.1')]);
    expect(flowsOf(cluster).filter((flow) => flow.includes('table=22'))).toEqual([expect.stringContaining('arp_op=1')]);
    expect(flowsOf(cluster).join('\n')).not.toMatch(/nd_reserved|nd_options_type/);
  });

  it('no packet goes to all networks at once', () => {
    const many = emptyCluster(DUAL);
    for (let id = 1; id < 40; id += 1) addTenant(many, `n${id}`, id, DUAL);
    const wide = flowsOf(many).filter((flow) => (flow.match(/output:patch-/g)?.length ?? 0) > 1 || /group:/.test(flow));
    expect(wide).toEqual([]);
    expect(many.render().openflowGroups).toEqual({});
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
  const fragments = flowsOf(emptyCluster(DUAL)).filter((flow) => flow.includes('nw_frag=yes'));
  expect(fragments).toHaveLength(2);
  for (const flow of fragments) expect(flow).toMatch(/ct_state=-trk.*ct\(table=0,zone=64004\)$/);
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
