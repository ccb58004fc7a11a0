import { expect, it } from 'vitest';
import { CONNECTIONS_KEY } from '../../../model/ownership.ts';
import { TestCluster } from '../../../testing/cluster.ts';

const RED = { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' } as const;
const BLUE = { ...RED, id: 2, topology: 'layer2', namespace: 'blue', tunnelKeys: [16_711_685, 16_711_686] } as const;

const cluster = (connectionLimit?: number): TestCluster =>
  new TestCluster('node1', {}, { connectionLimit })
    .node('node1', { id: 2, subnets: { default: ['10.1.1.0/24'], red: ['10.20.1.0/24'] } })
    .gateway('node1', { addresses: ['172.16.0.2/24'], nextHops: ['172.16.0.1'] })
    .namespace('red', true)
    .network('red', RED)
    .network('blue', BLUE);

/** `name limit`, of rows that have one. */
const limits = (it: TestCluster): string[] => {
  const { northbound } = it.render();
  return ['Logical_Router', 'Logical_Switch', 'Logical_Switch_Port'].flatMap((table) =>
    (northbound[table] ?? []).flatMap(({ name, external_ids }) => {
      const { [CONNECTIONS_KEY]: limit } = { ...(external_ids as Readonly<Record<string, string>>) };
      return limit === undefined ? [] : [`${name} ${limit}`];
    }),
  );
};

it('limits routers and ports of tenants, ports of the default network, and not the zone that it shares with the host', () => {
  expect(limits(cluster(16_000)).sort()).toEqual([
    'GR_blue_node1 16000',
    'GR_red_node1 16000',
    'blue_ovn_layer2_switch 16000',
    'blue_transit_router 16000',
    'k8s-blue_node1 16000',
    'k8s-node1 4294967295',
    'k8s-red_node1 16000',
    'node1 16000',
    'red_node1 16000',
    'red_ovn_cluster_router 16000',
  ]);
});

it('limits nothing where nobody says so', () => {
  expect(limits(cluster())).toEqual([]);
});

it('shares what a network may have among its pods here, in powers of two', () => {
  const it = cluster(1600);
  const ofPods = (): string | undefined => limits(it).find((text) => text.startsWith('red_node1 '));
  const seen = new Set<string | undefined>();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) {
    it.pod(`red/${name}`, { node: 'node1', networks: {} });
    seen.add(ofPods());
  }
  expect([...seen]).toEqual(['red_node1 1600', 'red_node1 1024']);
  expect(limits(it)).toContain('GR_red_node1 1600');
});

it('gives a pod that is attached many times to a network no more than as many pods', () => {
  const keys = Array.from({ length: 32 }, (_, position) => (position === 0 ? 'red/wire' : `red/wire/${position}`));
  const networks = keys.map((key, position) => [key, { ips: [`10.40.0.${position + 2}/16`], tunnelId: position + 20 }]);
  const it = cluster(16_000)
    .network('wire', { ...RED, id: 3, topology: 'layer2', subnets: ['10.40.0.0/16'], nad: 'wire', role: 'secondary' })
    .pod('red/a', { node: 'node1', selects: keys.map(() => 'wire').join(), networks: Object.fromEntries(networks) });
  const { northbound } = it.render();
  const ports = (northbound['Logical_Switch_Port'] ?? []).filter(({ name }) => String(name).startsWith('red.wire'));
  expect(ports).toHaveLength(32);
  expect(limits(it)).toContain('wire_ovn_layer2_switch 2000');
});
