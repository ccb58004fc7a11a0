import { expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';

const NETWORKS = {
  red: { id: 1, topology: 'layer3', subnets: ['10.70.0.0/16'], namespace: 'red', nad: 'net' },
  green: {
    id: 2,
    topology: 'layer2',
    subnets: ['10.71.0.0/16'],
    tunnelKeys: [16711685, 16711686],
    namespace: 'green',
    nad: 'net',
  },
} as const;

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red: ['10.70.1.0/24'] } })
    .network('red', NETWORKS.red)
    .network('green', NETWORKS.green);

const guarded = (of: TestCluster): Map<unknown, unknown[]> => {
  const { northbound } = of.render();
  const rows = northbound['ACL'] ?? [];
  const guards = rows.filter(({ match }) => match === 'udp.dst == {68, 546}');
  expect(guards).toEqual(
    guards.map(() => expect.objectContaining({ direction: 'from-lport', action: 'drop', tier: 0, priority: 1100 })),
  );
  const ids = guards.map(({ external_ids: own }) => `ACL/${(own as Record<string, string>)['k8s.ovn.org/id']}`);
  const switches = northbound['Logical_Switch'] ?? [];
  const own = switches.map(
    ({ name, acls = [] }) => [name, ids.filter((id) => (acls as string[]).includes(id))] as const,
  );
  return new Map(own.filter(([, acls]) => acls.length > 0));
};

it('each switch with pods has its own, and no other switch has one', () => {
  const found = guarded(cluster());
  expect([...found.keys()].toSorted()).toEqual(['green_ovn_layer2_switch', 'node1', 'red_node1']);
  expect([...found.values()].map((acls) => acls.length)).toEqual([1, 1, 1]);
});

it('of layer 2, what asks a server is dropped where it would be received, on all nodes', () => {
  const { northbound } = cluster().render();
  const asks = (northbound['ACL'] ?? []).filter(({ match }) => String(match).includes('udp.dst == 67'));
  expect(
    asks.map(({ match, direction, action, tier, priority }) => [match, direction, action, tier, priority]),
  ).toEqual([['(udp.src == 68 && udp.dst == 67) || (udp.src == 546 && udp.dst == 547)', 'to-lport', 'drop', 0, 1103]]);
  const flat = northbound['Logical_Switch']?.find(({ name }) => name === 'green_ovn_layer2_switch');
  expect(flat?.['acls']).toContainEqual(expect.stringContaining('ServerQuestions'));
});

it('secondary networks with IPAM have it; without IPAM a server of the tenant’s own is possible, and on a physical network', () => {
  const of = cluster();
  const secondary = { role: 'secondary', namespace: 'red' } as const;
  of.network('red_flat', { ...secondary, id: 20, topology: 'layer2', subnets: ['10.90.0.0/24'], nad: 'flat' });
  of.network('red_bare', { ...secondary, id: 21, topology: 'layer2', subnets: [], nad: 'bare' });
  of.network('red_wide', { ...secondary, id: 22, topology: 'layer3', subnets: ['10.91.0.0/16'], nad: 'wide' });
  of.subnets('node1', 'red_wide', ['10.91.1.0/24']);
  of.network('red_wire', { ...secondary, id: 23, topology: 'localnet', subnets: ['10.92.0.0/24'], nad: 'wire' });
  of.mapped('physnet', 'br-ex');
  const own = ['green_ovn_layer2_switch', 'node1', 'red_node1'];
  expect([...guarded(of).keys()].toSorted()).toEqual(
    [...own, 'red_flat_ovn_layer2_switch', 'red_wide_node1'].toSorted(),
  );
});

it('goes with the network', () => {
  const of = cluster();
  of.render();
  of.facts.set('network', 'green', undefined);
  expect([...guarded(of).keys()].toSorted()).toEqual(['node1', 'red_node1']);
});

it('no router advertisement gets in by a port of the integration bridge, whatever the networks', () => {
  const only = ['cookie=0xdeff105, table=0, priority=1000, icmp6,icmp_type=134, actions=drop'];
  expect(cluster().render().openflow['br-int']).toEqual(only);
  expect(new TestCluster('node1').render().openflow).toEqual({ 'br-int': only });
});
