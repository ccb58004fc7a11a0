/** Who waits for an id gets one as soon as there is one, whatever has gone wrong before. */
import { expect, it, vi } from 'vitest';
import { NETWORK_ID_POOLS } from '../../api/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import { hasId, parseRanges } from '../../net/id-ranges.ts';
import { createTestCluster } from '../testing/harness.ts';
import { keepIds, refusal, reportOf } from '../testing/id-keeping.ts';
import { layer2Udn, tenant } from '../testing/objects.ts';

it('a network gets its id when the first write fails', async () => {
  const { server, clock, add, idOf, observed } = keepIds(undefined, { error: refusal(500) });
  expect(add('red')).toEqual([]);
  await clock.advance(100);
  expect(observed).toMatchObject([{ kind: 'failed' }]);
  server.error = undefined;
  await clock.advance(1_000);
  expect(idOf('red')).toBe(1);
});

it('what fails is not tried again at once, however many wait', async () => {
  const { clock, add, observed } = keepIds(undefined, { error: refusal(403) });
  for (const name of ['a', 'b', 'c', 'd']) {
    add(name);
    await clock.advance(1_000);
  }
  await clock.advance(60_000);
  expect(observed.length).toBeGreaterThan(5);
  expect(observed.length).toBeLessThan(15);
});

it('networks that found no id get theirs when all nodes have answered after the record was lost', async () => {
  const { server, clock, keeper, add, idOf, written } = keepIds(undefined, { reports: [reportOf('n1', 7)] });
  await clock.advance(5_000);
  expect(written()?.retired).toHaveLength(4095);
  expect([...add('red'), ...add('blue')]).toEqual([
    expect.stringContaining('no id for network red_n: all ids from 1 to 4095 are in use'),
    expect.stringContaining('no id for network blue_n: all ids from 1 to 4095 are in use'),
  ]);
  server.reports = [reportOf('n1', written()?.retirement ?? 0)];
  keeper.reported();
  await clock.advance(5_000);
  expect([idOf('red'), idOf('blue')]).toEqual([1, 2]);
  expect(written()?.retired).toBeUndefined();
});

it('nobody waits for longer than a network’s turn may take, and for nothing once that is known', async () => {
  const { clock, keeper } = keepIds(undefined, { error: refusal(403) });
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, 'removeEventListener');
  const turn = vi.fn();
  void keeper.available(signal).then(turn);
  await clock.advance(1_000);
  expect(turn).not.toHaveBeenCalled();
  await clock.advance(1_000);
  expect(turn).toHaveBeenCalled();
  expect(remove).toHaveBeenCalled();
  await clock.advance(10_000);
  await keeper.available(signal);
});

it('what waits because nothing can be written says so, until it can', async () => {
  const { server, clock, registry, add, idOf } = keepIds(undefined, { error: refusal(403) });
  await clock.advance(3_000);
  expect(add('red')).toEqual([
    'no id for network red_n: waiting for an id: NetworkIdPool/cluster was not written: status 403',
  ]);
  server.error = undefined;
  await clock.advance(15_000);
  expect([idOf('red'), registry.ids.failure]).toEqual([1, undefined]);
});

it('a server that knows no record for a moment is asked again, and what there is is followed', async () => {
  const { server, clock, registry, add, idOf, observed, written } = keepIds();
  add('red');
  await clock.advance(1_000);
  server.pool = undefined;
  server.error = refusal(404);
  registry.remove('red/n');
  add('green');
  await clock.advance(20_000);
  expect(observed.at(-1)).toEqual({ kind: 'absent' });
  expect([registry.ids.isKept, idOf('green')]).toEqual([false, 2]);
  server.error = undefined;
  // What a node had before, and what nobody has written down.
  server.reports = [reportOf('n1', 0, { ready: '1', leaving: '7' })];
  await clock.advance(20_000);
  expect(registry.ids.isKept).toBe(true);
  expect(written()).toMatchObject({ retired: [{ id: 1 }, { id: 7 }] });
  expect([1, 2, 7].filter((id) => !hasId(parseRanges(written()?.given ?? '', 4095), id))).toEqual([]);
  add('blue');
  await clock.advance(1_000);
  expect([1, 2, 7, undefined]).not.toContain(idOf('blue'));
  const given = parseRanges(written()?.given ?? '', 4095);
  expect(hasId(given, idOf('blue') ?? 0)).toBe(true);
});

it('a record that is there again says what is given, whatever was given meanwhile', async () => {
  const { server, clock, registry, add, idOf, written } = keepIds();
  add('red');
  await clock.advance(1_000);
  const { pool } = server;
  server.pool = undefined;
  server.error = refusal(404);
  registry.remove('red/n');
  add('green');
  await clock.advance(20_000);
  expect(registry.ids.isKept).toBe(false);
  [server.pool, server.error] = [pool, undefined];
  await clock.advance(20_000);
  expect(registry.ids.isKept).toBe(true);
  // No node is there to have what was red's.
  await clock.advance(20_000);
  expect(written()?.retired).toBeUndefined();
  add('blue');
  await clock.advance(2_000);
  expect(new Set([idOf('green'), idOf('blue')]).size).toBe(2);
  expect(idOf('green')).toBe(2);
  expect(hasId(parseRanges(written()?.given ?? '', 4095), 2)).toBe(true);
});

it('networks are made and say what they wait for while the record cannot be written', async () => {
  let isRefused = true;
  const refusing =
    <Rest extends readonly unknown[], Value>(write: (resource: ResourceType, ...rest: Rest) => Promise<Value>) =>
    (resource: ResourceType, ...rest: Rest): Promise<Value> =>
      isRefused && resource === NETWORK_ID_POOLS ? Promise.reject(refusal(403)) : write(resource, ...rest);
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    create: refusing(client.create),
    update: refusing(client.update),
  });
  const cluster = await createTestCluster({ wire });
  await cluster.create(tenant('red'));
  cluster.start();
  await cluster.create(layer2Udn('red/net', ['10.20.0.0/16']));
  const texts = async (): Promise<string> =>
    JSON.stringify((await cluster.get('UserDefinedNetwork', 'red/net'))?.['status'] ?? {});
  await vi.waitFor(async () => expect(await texts()).toContain('waiting for an id: '), { timeout: 8_000 });
  isRefused = false;
  await vi.waitFor(async () => expect(await texts()).toContain('"networkID":1'), { timeout: 8_000 });
  expect(await texts()).not.toContain('it waits');
  await cluster.close();
}, 20_000);
