import { afterEach, expect, it } from 'vitest';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { cudn, layer2Udn, layer3Udn, node, pod, tenant, udn } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const { annotation, condition, addressOf, eventsAbout } = observe(() => cluster);

const readyOf = async (key: string, type: string): Promise<string> => {
  const found = await condition('UserDefinedNetwork', key, type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};

const FULL = 'no id for network c_net: at most 2 networks are allowed in this cluster (--max-networks), 2 exist';

it('a network above the limit says so, and has its turn when another one is gone', async () => {
  cluster = await createTestCluster({ limits: { maxNetworks: 2 } });
  cluster.start();
  await cluster.create(node('n1'), ...['a', 'b', 'c'].map((name) => tenant(name)));
  await cluster.createAndSettle(layer3Udn('a/net', ['10.20.0.0/16']), layer2Udn('b/net', ['10.20.0.0/16']));
  await cluster.createAndSettle(layer2Udn('c/net', ['10.20.0.0/16']), pod('c/web'));
  expect(await readyOf('c/net', 'NetworkAllocationSucceeded')).toBe(`False InternalError: ${FULL}`);
  expect(await readyOf('c/net', 'Ready')).toBe(`False InternalError: ${FULL}`);
  expect(eventsAbout('net')).toContain(`InvalidNetwork: ${FULL}`);
  expect(await addressOf('c/web', 'c/net')).toBeUndefined();
  expect(await readyOf('a/net', 'NetworkAllocationSucceeded')).toMatch(/^True/);
  await cluster.deleteAndSettle('UserDefinedNetwork', 'a/net');
  expect(await readyOf('c/net', 'NetworkAllocationSucceeded')).toMatch(/^True/);
  expect(await annotation('NetworkAttachmentDefinition', 'c/net', 'network-id')).toBe('3');
  // The pod has waited for it, too.
  expect(await addressOf('c/web', 'c/net')).toBe('10.20.0.3/16');
});

it('a namespace has no more networks than it may, and goes on when one of its own is gone', async () => {
  cluster = await createTestCluster({ limits: { maxNetworks: 9, maxNetworksPerNamespace: 1 } });
  cluster.start();
  await cluster.create(node('n1'), tenant('a'), tenant('b'));
  await cluster.createAndSettle(layer2Udn('a/net', ['10.20.0.0/16']));
  await cluster.create(
    layer2Udn('a/more', ['10.30.0.0/16'], { role: 'Secondary' }),
    layer2Udn('b/net', ['10.20.0.0/16']),
  );
  const network = { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.40.0.0/16'] } };
  await cluster.createAndSettle(cudn('shared', {}, network));
  const full =
    'no id for network a_more: at most 1 networks are allowed in a namespace (--max-networks-per-namespace), a has 1';
  expect(await readyOf('a/more', 'NetworkAllocationSucceeded')).toBe(`False InternalError: ${full}`);
  expect(eventsAbout('more')).toContain(`InvalidNetwork: ${full}`);
  expect(await readyOf('b/net', 'NetworkAllocationSucceeded')).toMatch(/^True/);
  expect((await condition('ClusterUserDefinedNetwork', 'shared', 'NetworkAllocationSucceeded'))?.status).toBe('True');
  await cluster.deleteAndSettle('UserDefinedNetwork', 'b/net');
  expect(await readyOf('a/more', 'NetworkAllocationSucceeded')).toMatch(/^False/);
  await cluster.deleteAndSettle('UserDefinedNetwork', 'a/net');
  expect(await readyOf('a/more', 'NetworkAllocationSucceeded')).toMatch(/^True/);
});

it('the limit is kept over a restart: the oldest have what they had', async () => {
  cluster = await createTestCluster({ limits: { maxNetworks: 2 } });
  cluster.start();
  await cluster.create(node('n1'), ...['a', 'b', 'c'].map((name) => tenant(name)));
  // In the order of their age, which is not that of their names.
  for (const ns of ['c', 'b', 'a']) {
    await cluster.createAndSettle(layer2Udn(`${ns}/net`, ['10.20.0.0/16']));
  }
  await cluster.stop();
  cluster.start();
  await cluster.settled();
  const ids = await Promise.all(
    ['c', 'b', 'a'].map((ns) => annotation('NetworkAttachmentDefinition', `${ns}/net`, 'network-id')),
  );
  expect(ids).toEqual(['1', '2', undefined]);
});

it('a network with more annotations than its NAD can have beside ours is refused', async () => {
  cluster = await createTestCluster();
  cluster.start();
  await cluster.create(tenant('a'));
  const spec = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.20.0.0/16'] } };
  const annotations = { 'example.com/notes': 'x'.repeat(260_000) };
  await cluster.createAndSettle(udn('a/net', spec, { annotations }));
  expect(await readyOf('a/net', 'NetworkCreated')).toBe(
    'False SyncError: metadata.annotations: 260017 bytes exceed the limit for NetworkAttachmentDefinition [a/net], which inherits them: at most 258048',
  );
  await cluster.patchAndSettle('UserDefinedNetwork', 'a/net', {
    metadata: { annotations: { 'example.com/notes': 'short' } },
  });
  expect(await readyOf('a/net', 'NetworkAllocationSucceeded')).toMatch(/^True/);
});
