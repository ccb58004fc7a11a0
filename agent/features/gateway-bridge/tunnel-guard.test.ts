import { describe, expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import { emptyCluster, workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { DUAL, flowsOf, isClause, isSender } from '../../testing/bridge-flows.ts';
import type { TestCluster } from '../../testing/cluster.ts';

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
    expect(found.get('conjunction(1,1/3)')).toEqual(['reg3=0x1/0x1', 'reg3=0x80/0x80']);
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

  it('are reached by no port that has no sender yet, and by the uplink and the host as before', () => {
    const geneve = flowsOf(emptyCluster(DUAL)).filter(
      (flow) => /udp6?,.*tp_dst=(6081|0)\b/.test(flow) && !isClause(flow),
    );
    const unknown = geneve.filter((flow) => !flow.includes('in_port='));
    expect(unknown).toEqual(
      ['udp', 'udp6'].map((udp) => `cookie=0xdeff105, table=0, priority=199, ${udp},reg3=0,tp_dst=6081, actions=drop`),
    );
    const known = geneve.filter((flow) => !unknown.includes(flow));
    expect(known.map((flow) => /priority=(\d+), .*in_port=(\w+)/.exec(flow)?.slice(1)).sort()).toEqual([
      ...['200', '200', '200', '200'].map((rank, index) => [rank, index < 2 ? 'LOCAL' : 'eth0']),
      ...['205', '205'].map((rank) => [rank, 'eth0']),
    ]);
  });

  it('are as many flows more as a node has addresses', () => {
    const before = flowsOf(workedCluster(DUAL)).length;
    const cluster = workedCluster(DUAL).node('node3', { id: 4, encapIps: ['172.30.0.4'] });
    expect(flowsOf(cluster).length - before).toBe(1);
  });
});
