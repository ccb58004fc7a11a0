import { describe, expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { addTenant, emptyCluster, workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { LOCAL } from '../../model/facts.ts';
import { DUAL, flowsOf, onKernel } from '../../testing/bridge-flows.ts';
import type { TestCluster } from '../../testing/cluster.ts';

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
    // The other one is that no localnet's pod has the MAC.
    expect(after).toHaveLength(before.length + 1);
    expect(after.filter((flow) => !before.includes(flow))).toHaveLength(2);
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
