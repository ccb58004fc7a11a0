/** What one tenant does is not at the cost of the others. */
import { afterEach, expect, it } from 'vitest';
import { createFakeClock } from '../../kube/fake-clock.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, nad, node, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const { condition } = observe(() => cluster);

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
  expect(all.length).toBeGreaterThan(1200);
  // Of the same length as its own way: each step waits for those that are under way, and for one more.
  expect(all.lastIndexOf('userdefinednetworks b/net')).toBeLessThan(150);
});

it('an object that changes all the time is told about now and then, and in the end rightly', async () => {
  const clock = createFakeClock();
  cluster = await createTestCluster({ clock });
  cluster.start();
  await cluster.create(tenant('a'), node('n1'), nad('a/net', { type: 'bridge' }), layer2Udn('a/net', ['10.20.0.0/16']));
  await cluster.settled();
  const turns = async (): Promise<void> => {
    for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
  };
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
