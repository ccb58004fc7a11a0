import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../embedded/cluster.ts';
import { KubeError } from '../errors.ts';
import { EVENTS, NODES } from '../resources.ts';
import type { KubeObject } from '../types.ts';
import { createEventRecorder } from './recorder.ts';
import type { EventInput, EventObservation } from './types.ts';

const regarding = {
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'UserDefinedNetwork',
  namespace: 'default',
  name: 'blue',
  uid: 'u1',
};
const event = (message: string, extra: Partial<EventInput> = {}): EventInput => ({
  regarding,
  type: 'Warning',
  reason: 'NetworkAllocationFailed',
  message,
  ...extra,
});

const bench = () => {
  const clock = createFakeClock();
  const cluster = createEmbeddedCluster({ clock });
  const client = cluster.client();
  const faults: unknown[] = [];
  const observed: EventObservation[] = [];
  const recorder = createEventRecorder({
    client: {
      patch: client.patch,
      create: async (...parameters) => {
        const fault = faults.shift();
        if (fault !== undefined) throw fault;
        return await client.create(...parameters);
      },
    },
    component: 'udn-agent',
    host: 'node-1',
    clock,
    random: () => 0,
    observe: (observation) => observed.push(observation),
  });
  const events = async (namespace = 'default'): Promise<readonly KubeObject[]> =>
    (await client.list(EVENTS, { namespace })).items;
  const drops = () => observed.flatMap((seen) => (seen.kind === 'dropped' ? [seen.reason] : []));
  return { clock, client, recorder, faults, observed, events, drops };
};

it('writes an Event that kubectl describe finds', async () => {
  const { recorder, client } = bench();
  recorder.record(event('no subnet left'));
  await recorder.flush();
  const fieldSelector = 'involvedObject.name=blue,involvedObject.uid=u1,involvedObject.kind=UserDefinedNetwork';
  const { items } = await client.list(EVENTS, { namespace: 'default', fieldSelector });
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({
    type: 'Warning',
    reason: 'NetworkAllocationFailed',
    message: 'no subnet left',
    count: 1,
    involvedObject: regarding,
    source: { component: 'udn-agent', host: 'node-1' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
  });
  expect(items[0]?.metadata.name).toMatch(/^blue\./);
});

it('counts repetitions', async () => {
  const { recorder, events, clock } = bench();
  for (let i = 0; i < 3; i += 1) {
    recorder.record(event('no subnet left'));
    await clock.advance(10_000);
  }
  const [only, ...more] = await events();
  expect(more).toEqual([]);
  expect(only).toMatchObject({
    count: 3,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:20Z',
  });
});

it('writes a new one when the old one has expired', async () => {
  const { recorder, client, events } = bench();
  recorder.record(event('no subnet left'));
  await recorder.flush();
  const [first] = await events();
  await client.delete(EVENTS, { namespace: 'default', name: first?.metadata.name ?? '' });
  recorder.record(event('no subnet left'));
  await recorder.flush();
  expect(await events()).toEqual([expect.objectContaining({ count: 2 })]);
});

it('combines many different messages', async () => {
  const { recorder, events, clock } = bench();
  for (let i = 0; i < 20; i += 1) {
    recorder.record(event(`no subnet for node ${i}`));
    await clock.advance(0);
  }
  const written = await events();
  expect(written).toHaveLength(10);
  expect(written).toContainEqual(
    expect.objectContaining({ message: '(combined from similar events): no subnet for node 19', count: 11 }),
  );
});

it('says less about an object that is reported about too often', async () => {
  const { recorder, drops, clock, events } = bench();
  for (let i = 0; i < 40; i += 1) recorder.record(event('again'));
  await recorder.flush();
  expect(drops()).toEqual(Array.from({ length: 15 }, () => 'rate'));
  await clock.advance(300_000);
  recorder.record(event('again'));
  recorder.record(event('again'));
  await recorder.flush();
  expect(drops()).toHaveLength(16);
  recorder.record(event('other', { regarding: { ...regarding, name: 'red' } }));
  await recorder.flush();
  expect(drops()).toHaveLength(16);
  // What was not written is counted all the same.
  expect(await events()).toContainEqual(expect.objectContaining({ message: 'again', count: 41 }));
});

it('says less about a namespace whose objects are made, and wrong, again and again', async () => {
  const { recorder, drops, clock } = bench();
  const about = (namespace: string, n: number) =>
    event('wrong', { regarding: { ...regarding, namespace, uid: `u${n}` } });
  const rationed = () => drops().filter((reason) => reason === 'rate').length;
  for (let n = 0; n < 250; n += 1) recorder.record(about('default', n));
  expect(rationed()).toBe(50);
  recorder.record(about('other', 0));
  expect(rationed()).toBe(50);
  await clock.advance(10_000);
  for (let n = 300; n < 320; n += 1) recorder.record(about('default', n));
  expect(rationed()).toBe(60);
  await recorder.flush();
});

it('writes about cluster-scoped objects into the default namespace', async () => {
  const { recorder, client, events } = bench();
  await client.create(NODES, { metadata: { name: 'node-1' } });
  recorder.record(event('restarted', { regarding: { apiVersion: 'v1', kind: 'Node', name: 'node-1' } }));
  await recorder.flush();
  expect(await events()).toHaveLength(1);
});

it('tries again when the server is away for a moment', async () => {
  const { recorder, faults, clock, events, observed } = bench();
  faults.push(new KubeError('ERR_KUBE_NETWORK', 'refused'), new KubeError('ERR_KUBE_STATUS', '503', { status: 503 }));
  recorder.record(event('later'));
  await clock.advance(10_000);
  expect(await events()).toHaveLength(1);
  expect(observed.at(-1)).toMatchObject({ kind: 'recorded', count: 1 });
});

it('gives up in the end, and goes on with the next', async () => {
  const { recorder, faults, clock, events, drops } = bench();
  for (let i = 0; i < 5; i += 1) faults.push(new KubeError('ERR_KUBE_NETWORK', 'refused'));
  faults.push(new KubeError('ERR_KUBE_STATUS', '403', { status: 403 }));
  recorder.record(event('lost'));
  recorder.record(event('forbidden'));
  recorder.record(event('written'));
  await clock.advance(60_000);
  expect(drops()).toEqual(['error', 'error']);
  expect(await events()).toEqual([expect.objectContaining({ message: 'written' })]);
});

it('keeps only so many waiting', async () => {
  const { recorder, drops } = bench();
  for (let i = 0; i < 1100; i += 1) {
    recorder.record(event('x', { regarding: { apiVersion: 'v1', kind: 'Node', name: `node-${i}` } }));
  }
  expect(drops()).toEqual(Array.from({ length: 100 }, () => 'full'));
  await recorder.flush();
});

it('cuts long messages between characters', async () => {
  const { recorder, events } = bench();
  recorder.record(event('ü'.repeat(1000)));
  await recorder.flush();
  const [written] = await events();
  const message = String(written?.['message']);
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024);
  expect(message).toMatch(/^ü+\.\.\.$/);
});
