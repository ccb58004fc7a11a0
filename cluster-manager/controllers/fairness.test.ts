/** What one tenant does is not at the cost of the others. */
import { afterEach, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, nad, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const { addressOf, condition } = observe(() => cluster);

/** `resource key` of all writes, in order. */
const writes = (): string[] =>
  cluster.observations.flatMap((one) =>
    one.source === 'writer' && one.about.kind === 'written' ? [`${one.about.resource.plural} ${one.about.key}`] : [],
  );

it('a network is not made later because another tenant has hundreds waiting', async () => {
  cluster = await createTestCluster();
  await cluster.create(tenant('a'), tenant('b'));
  for (let n = 0; n < 300; n += 1) await cluster.create(layer2Udn(`a/n${n}`, ['10.20.0.0/16'], { role: 'Secondary' }));
  await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']));
  cluster.start();
  await cluster.settled();
  const all = writes();
  expect(all.length).toBeGreaterThan(900);
  // Of the same length as its own way: each step waits for those that are under way, and for one more.
  expect(all.lastIndexOf('userdefinednetworks b/net')).toBeLessThan(150);
});

const hasNetwork = async (namespace: string): Promise<boolean> =>
  (await condition('UserDefinedNetwork', `${namespace}/net`))?.status === 'True';

const turns = async (): Promise<void> => {
  for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** @returns milliseconds of the clock until it is so */
const untilTrue = async (clock: FakeClock, isTrue: () => Promise<boolean>): Promise<number> => {
  const start = clock.monotonic();
  for (await turns(); !(await isTrue()); await turns()) {
    if (clock.monotonic() - start > 600_000) throw new Error('not in ten minutes');
    await clock.advance(100);
  }
  return clock.monotonic() - start;
};

const secondaries = (namespace: string, count: number) =>
  Array.from({ length: count }, (_, n) => layer2Udn(`${namespace}/n${n}`, ['10.20.0.0/16'], { role: 'Secondary' }));

it('where every write for one tenant fails, the networks and pods of others are made at once', async () => {
  const clock = createFakeClock();
  let isBroken = true;
  cluster = await createTestCluster({
    clock,
    fault: (_, { namespace }) => (isBroken && namespace === 'a' ? { status: 500, isDone: false } : undefined),
  });
  await cluster.create(tenant('a'), tenant('b'), node('n1'), ...secondaries('a', 40));
  cluster.start();
  await turns();
  await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']), pod('b/p'));
  expect(await untilTrue(clock, async () => (await addressOf('b/p', 'b/net')) !== undefined)).toBe(0);
  expect(await hasNetwork('b')).toBe(true);
  await clock.advance(300_000);
  isBroken = false;
  const all = async (): Promise<boolean> => (await cluster.list('NetworkAttachmentDefinition')).length === 41;
  expect(await untilTrue(clock, all)).toBeLessThan(40_000);
});

it('where requests for one tenant are never answered, others are served at once', async () => {
  const clock = createFakeClock();
  cluster = await createTestCluster({
    clock,
    wire: (client) => ({
      ...client,
      patch: (resource, ref, patch, options, signal) =>
        ref.namespace === 'a'
          ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
          : client.patch(resource, ref, patch, options, signal),
    }),
  });
  await cluster.create(tenant('a'), tenant('b'), node('n1'), ...secondaries('a', 40));
  cluster.start();
  await turns();
  await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']), pod('b/p'));
  expect(await untilTrue(clock, async () => (await addressOf('b/p', 'b/net')) !== undefined)).toBe(0);
});

it('where the writes of many tenants fail, another one waits for seconds and not for minutes', async () => {
  const clock = createFakeClock();
  const broken = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'];
  cluster = await createTestCluster({
    clock,
    random: () => 0.5,
    fault: (_, { namespace = '' }) => (broken.includes(namespace) ? { status: 500, isDone: false } : undefined),
  });
  await cluster.create(tenant('b'), ...broken.flatMap((name) => [tenant(name), ...secondaries(name, 20)]));
  cluster.start();
  await turns();
  await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']));
  expect(await untilTrue(clock, () => hasNetwork('b'))).toBeLessThan(5000);
});

it('an object that changes all the time is reported now and then, and in the end rightly', async () => {
  const clock = createFakeClock();
  cluster = await createTestCluster({ clock });
  cluster.start();
  await cluster.createAndSettle(
    tenant('a'),
    node('n1'),
    nad('a/net', { type: 'bridge' }),
    layer2Udn('a/net', ['10.20.0.0/16']),
  );
  const before = writes().length;
  for (let n = 0; n < 60; n += 1) {
    await cluster.delete('NetworkAttachmentDefinition', 'a/net').catch(() => {});
    await turns();
    await cluster.patch('UserDefinedNetwork', 'a/net', { metadata: { labels: { n: String(n) } } });
    await cluster.create(nad('a/net', { type: 'bridge' })).catch(() => {});
    await turns();
  }
  const reconciled = cluster.observations.filter(
    (one) => one.source === 'queue' && one.controller === 'network' && one.about.kind === 'done',
  );
  expect(reconciled.length).toBe(20);
  expect(writes().length - before).toBeLessThan(60);
  let isSettled = false;
  void cluster.settled().then(() => {
    isSettled = true;
  });
  while (!isSettled) await clock.advance(500);
  const owned = (await cluster.get('NetworkAttachmentDefinition', 'a/net'))?.metadata.ownerReferences !== undefined;
  expect((await condition('UserDefinedNetwork', 'a/net'))?.status).toBe(owned ? 'True' : 'False');
});
