import { Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { udnFacts } from '../facts/network-facts.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, layer3Udn, node, pod, tenant } from '../testing/objects.ts';
import { createMetrics } from './metrics.ts';
import { countReadiness } from './network-gauges.ts';

let cluster: TestCluster | undefined;
afterEach(() => cluster?.close());

/** Its lines, without those that are explained, sorted. */
const readOf = (running: TestCluster, isLeading: boolean): ((name: string) => Promise<string[]>) => {
  const registry = new Registry();
  const { manager } = running;
  const { caches } = manager.mirrors;
  createMetrics(registry).follow({
    state: manager.state,
    networks: () => [...caches.udns.values(), ...caches.cudns.values()],
    silenceMs: () => 0,
    waitingPods: () => manager.waiting.counts(),
    isLeading: () => isLeading,
    build: { version: '1.2.3', commit: 'abc' },
  });
  return async (name) => {
    const text = await registry.getSingleMetricAsString(`udn_clustermanager_${name}`);
    return text
      .split('\n')
      .filter((line) => !line.startsWith('#') && line !== '')
      .toSorted();
  };
};

it('says how full networks are, who waits for them, and who leads', async () => {
  cluster = await createTestCluster();
  cluster.start();
  await cluster.create(node('n1'), node('n2'), tenant('a'), tenant('b'));
  await cluster.createAndSettle(layer2Udn('a/net', ['10.20.0.0/29']), layer3Udn('b/net', ['10.30.0.0/16']));
  const read = readOf(cluster, true);
  const used = (line: string) => line.replace('udn_clustermanager_network_pool_', '');
  expect((await read('network_pool_used')).map(used)).toEqual([
    'used{network="a_net",family="ipv4",unit="addresses"} 0',
    'used{network="b_net",family="ipv4",unit="node_subnets"} 2',
  ]);
  const [free] = await read('network_pool_free');
  const most = Number(free?.split(' ').at(-1));
  expect(most).toBeGreaterThan(2);
  for (let i = 0; i < most + 2; i++) await cluster.create(pod(`a/p${i}`));
  await cluster.settled();
  expect((await read('network_pool_used')).map(used)[0]).toBe(
    `used{network="a_net",family="ipv4",unit="addresses"} ${most}`,
  );
  expect((await read('network_pool_free'))[0]).toMatch(/ 0$/);
  const waiting = (cause: string) => `udn_clustermanager_pods_waiting{cause="${cause}"}`;
  const others = [`${waiting('claim')} 0`, `${waiting('refused')} 0`];
  expect(await read('pods_waiting')).toEqual([others[0], `${waiting('no_free_address')} 2`, others[1]]);
  await cluster.deleteAndSettle('Pod', 'a/p0');
  expect(await read('pods_waiting')).toContain(`${waiting('no_free_address')} 1`);
  const gone = await cluster.list('Pod');
  for (const { metadata } of gone) await cluster.delete('Pod', `${metadata.namespace}/${metadata.name}`);
  await cluster.settled();
  expect(await read('pods_waiting')).toContain(`${waiting('no_free_address')} 0`);
  expect(await read('leader')).toEqual(['udn_clustermanager_leader 1']);
  expect(await readOf(cluster, false)('leader')).toEqual(['udn_clustermanager_leader 0']);
  expect(await read('build_info')).toEqual(['udn_clustermanager_build_info{version="1.2.3",commit="abc"} 1']);
});

it('says which networks are ready, and names only those that have an id', async () => {
  cluster = await createTestCluster({ limits: { maxNetworks: 1 } });
  cluster.start();
  await cluster.create(node('n1'), tenant('a'), tenant('b'));
  await cluster.createAndSettle(layer2Udn('a/net', ['10.20.0.0/24']));
  await cluster.createAndSettle(layer2Udn('b/net', ['10.20.0.0/24']));
  const read = readOf(cluster, true);
  const ready = await read('network_ready');
  expect(ready).toHaveLength(1);
  expect(ready[0]).toMatch(/\{network="a_net",reason="Nodes[A-Za-z]+"\} 0$/);
  const conditions = await read('network_conditions');
  expect(conditions).toContain(
    'udn_clustermanager_network_conditions{condition="Ready",status="False",reason="InternalError"} 1',
  );
  expect(conditions.map((line) => Number(line.at(-1))).reduce((sum, count) => sum + count, 0)).toBe(2);
});

it('however many reasons an API server has stored, few are named', () => {
  const networks = Array.from({ length: 100 }, (_, i) => {
    const conditions = [
      { type: 'Ready', status: 'False', reason: `Reason${i}`, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    return udnFacts({ ...layer2Udn(`a/n${i}`, ['10.0.0.0/16']), status: { conditions } });
  });
  const counted = countReadiness([...networks, udnFacts(layer2Udn('a/new', ['10.0.0.0/16']))]);
  expect(counted).toHaveLength(32);
  expect(counted.find(({ reason }) => reason === 'Other')?.count).toBe(70);
  expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(101);
});
