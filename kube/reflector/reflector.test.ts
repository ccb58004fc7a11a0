import { describe, expect, it } from 'vitest';
import { KubeError } from '../errors.ts';
import { createOutage } from '../outage.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../resources.ts';
import {
  absentResource,
  arrive,
  bench,
  kinds,
  namespace,
  remove,
  reset,
  start,
  status,
  useBench,
  write,
} from './bench.suite.ts';

useBench();

describe('what is mirrored', () => {
  it('is what was there, then every change', async () => {
    await write('a', '1');
    const reflector = await start();
    expect(reflector.synced).toBe(true);
    await write('b', '2');
    await write('a', '3');
    await remove('b');
    await arrive();
    expect(bench.changes).toEqual([
      'added default/a  1',
      'added default/b  2',
      'updated default/a 1 3',
      'deleted default/b 2',
    ]);
    expect([...reflector.entries()]).toEqual([['default/a', '3']]);
    expect([reflector.size, reflector.get('default/a'), reflector.has('default/b')]).toEqual([1, '3', false]);
  });

  it('changes only with the projection', async () => {
    await write('a', '1');
    await start();
    await write('a', '1', { labels: { other: 'label' } });
    await arrive();
    expect(bench.changes).toEqual(['added default/a  1']);
  });

  it('has its own idea of equality when it is given one', async () => {
    await write('a', '1');
    const reflector = await start({ equal: (a, b) => a.length === b.length });
    await write('a', '2');
    await write('a', '22');
    await arrive();
    expect(bench.changes).toEqual(['added default/a  1', 'updated default/a 1 22']);
    expect(reflector.get('default/a')).toBe('22');
  });

  it('leaves out what is of no interest', async () => {
    await write('a', 'skip');
    const reflector = await start();
    await write('a', '1');
    await write('a', 'skip');
    await arrive();
    expect(bench.changes).toEqual(['added default/a  1', 'deleted default/a 1']);
    expect(reflector.size).toBe(0);
  });

  it('leaves out what can not be read, and says so', async () => {
    await write('a', '1');
    await write('b', 'bad');
    const reflector = await start();
    await write('a', 'bad');
    await write('c', '3');
    await arrive();
    expect([...reflector.keys()]).toEqual(['default/c']);
    expect([...reflector.bad.keys()].sort()).toEqual(['default/a', 'default/b']);
    expect(reflector.bad.get('default/a')?.reason.message).toBe('not readable');
    await write('a', '4');
    await remove('b');
    await arrive();
    expect(reflector.bad.size).toBe(0);
    expect(bench.observed.filter(({ kind }) => kind === 'bad' || kind === 'recovered').map(({ kind }) => kind)).toEqual(
      ['bad', 'bad', 'recovered', 'recovered'],
    );
    expect(bench.changes.slice(-1)).toEqual(['added default/a  4']);
  });

  it('is found by indexes', async () => {
    await write('a', '1');
    await write('b', '2');
    const reflector = await start<'value'>({
      indexes: { value: (value) => (value === '2' ? ['2', 'even'] : [value]) },
    });
    expect(reflector.byIndex('value', '1')).toEqual(['1']);
    expect(reflector.keysByIndex('value', 'even')).toEqual(['default/b']);
    await write('b', '1');
    await remove('a');
    await arrive();
    expect(reflector.keysByIndex('value', '1')).toEqual(['default/b']);
    expect(reflector.keysByIndex('value', 'even')).toEqual([]);
  });

  it('is a bad object when an index can not be made', async () => {
    await write('a', '1');
    const fail = () => {
      throw new Error('no index');
    };
    const reflector = await start<'value'>({ indexes: { value: fail } });
    expect([...reflector.bad.keys()]).toEqual(['default/a']);
    expect(reflector.size).toBe(0);
  });

  it('is replayed to late subscribers, and a handler that throws harms nobody', async () => {
    await write('a', '1');
    const reflector = await start();
    const late: string[] = [];
    reflector.subscribe(() => {
      throw new Error('mine');
    });
    const leave = reflector.subscribe(({ type, key }) => late.push(`${type} ${key}`));
    expect(late).toEqual(['added default/a']);
    await write('b', '2');
    await arrive();
    leave();
    await write('c', '3');
    await arrive();
    expect(late).toEqual(['added default/a', 'added default/b']);
    expect(kinds().filter((kind) => kind === 'handler-failed')).toHaveLength(3);
    expect(reflector.size).toBe(3);
  });

  it('is selected', async () => {
    await write('a', '1', { labels: { mine: 'yes' } });
    await write('b', '2');
    const reflector = await start({ labelSelector: 'mine', namespace });
    await write('a', '1', { labels: {} });
    await arrive();
    expect(bench.changes).toEqual(['added default/a  1', 'deleted default/a 1']);
    expect(reflector.size).toBe(0);
  });

  it('is listed in pages', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await write(name, '1');
    const reflector = await start({ timings: { pageSize: 2 } });
    expect(bench.faulty.calls.filter((call) => call.startsWith('list'))).toEqual(['list', 'list more', 'list more']);
    expect(reflector.size).toBe(5);
    expect(bench.observed.find(({ kind }) => kind === 'listed')).toMatchObject({ items: 5, pages: 3 });
  });
});

describe('waiting for the first list', () => {
  it('ends when it has been read', async () => {
    bench.faulty.lists.push({ throw: reset() });
    const reflector = await start();
    let synced = false;
    const waiting = reflector.whenSynced().then(() => {
      synced = true;
    });
    await arrive();
    expect([synced, reflector.synced]).toEqual([false, false]);
    await bench.clock.advance(1000);
    await waiting;
    expect(reflector.synced).toBe(true);
  });

  it('can be given up', async () => {
    bench.faulty.lists.push({ throw: reset() });
    const reflector = await start();
    const impatient = new AbortController();
    const waiting = reflector.whenSynced(impatient.signal);
    impatient.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('a resource that is not served', () => {
  const things = { group: 'example.org', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const crd = {
    metadata: { name: 'things.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };

  it('is waited for', async () => {
    const reflector = await start({ resource: things });
    await bench.clock.advance(60_000);
    expect(reflector.synced).toBe(false);
  });

  it('is empty when it is optional, and mirrored when it comes and goes', async () => {
    const reflector = await start({ resource: things, optional: true });
    await bench.clock.advance(1_600);
    expect([reflector.synced, reflector.size]).toEqual([true, 0]);
    await bench.client.create(CUSTOM_RESOURCE_DEFINITIONS, crd);
    await bench.client.create(things, { metadata: { namespace, name: 'a' }, data: { n: '1' } });
    await bench.clock.advance(31_000);
    expect(bench.changes).toEqual(['added default/a  1']);
    await bench.client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: crd.metadata.name });
    await bench.clock.advance(31_000);
    expect(reflector.size).toBe(0);
    expect(kinds()).toContain('absent');
  });

  const failing = (code: number, text: string, reason?: string) => () => {
    throw new KubeError('ERR_KUBE_STATUS', `GET: ${text} (${code})`, { status: code, reason });
  };

  it('is empty at once where the server has no definition of it', async () => {
    const reflector = await start({ resource: things, optional: true });
    expect([reflector.synced, kinds()]).toEqual([true, ['absent']]);
    expect(bench.faulty.calls.filter((call) => call === 'list')).toHaveLength(1);
  });

  it.each([
    ['is there, and not served yet', undefined],
    ['is forbidden', failing(403, 'no', 'Forbidden')],
    ['has a page of a proxy', failing(404, '"things.example.org" not found')],
  ])('is not taken for empty at the first answer where its definition %s', async (_, refusal) => {
    await bench.client.create(CUSTOM_RESOURCE_DEFINITIONS, crd);
    await bench.client.create(things, { metadata: { namespace, name: 'a' }, data: { n: '1' } });
    bench.faulty.definition = refusal;
    bench.faulty.lists.push({ throw: absentResource() }, { throw: absentResource() });
    const reflector = await start({ resource: things, optional: true });
    expect([reflector.synced, kinds()]).toEqual([false, []]);
    await bench.clock.advance(600);
    expect([reflector.synced, bench.changes, kinds().includes('absent')]).toEqual([
      true,
      ['added default/a  1'],
      false,
    ]);
  });

  it('is not taken for empty at the start before the server has said so four times in a row', async () => {
    await write('a', '1');
    const absent = { throw: absentResource() };
    bench.faulty.lists.push(absent, absent, absent, { throw: reset() }, absent, absent, absent);
    const reflector = await start({ optional: true });
    for (let at = 0; at < 8 && bench.faulty.lists.length > 0; at += 1) {
      expect([reflector.synced, kinds().includes('absent')]).toEqual([false, false]);
      await bench.clock.advance(500);
    }
    await bench.clock.advance(1_000);
    expect([reflector.synced, kinds().includes('absent')]).toEqual([true, false]);
    expect(bench.changes).toEqual(['added default/a  1']);
  });

  const NO_RESOURCES = () => ({ kind: 'APIResourceList', resources: [] });
  const forbidden = () => {
    throw new KubeError('ERR_KUBE_STATUS', 'GET /api/v1: you may not (403)', { status: 403, reason: 'Forbidden' });
  };
  const proxyForbids = () => {
    throw new KubeError('ERR_KUBE_STATUS', 'GET /api/v1: 403 Forbidden (403)', { status: 403 });
  };
  const notFound = () => {
    throw goPage();
  };
  /** That of Go's HTTP server, which the API server has for groups that it does not know. */
  const goPage = () => new KubeError('ERR_KUBE_STATUS', 'list: 404 page not found (404)', { status: 404 });

  it.each([
    ['that serve it', undefined],
    ['that are not found either', notFound],
    ['that a proxy forbids', proxyForbids],
    ['that are none', () => ({ kind: 'APIVersions' })],
  ])('is not taken for empty by the page of Go’s HTTP server, with lists %s', async (_, discovery) => {
    await write('a', '1');
    const outage = createOutage({ clock: bench.clock, random: () => 0 });
    const reflector = await start({ optional: true, outage });
    bench.faulty.discovery = discovery;
    bench.faulty.watches.push({ throw: status(410) });
    bench.cluster.disconnectWatches();
    bench.faulty.lists.push(...Array.from({ length: 20 }, () => ({ throw: goPage() })));
    await bench.clock.advance(300_000);
    expect([reflector.size, kinds().includes('absent')]).toEqual([1, false]);
    // Who starts then does not take it for empty, either.
    const later = await start({ optional: true, outage });
    await bench.clock.advance(10_000);
    expect(later.synced).toBe(false);
    bench.faulty.lists.length = 0;
    await bench.clock.advance(60_000);
    expect([later.synced, later.size, reflector.size]).toEqual([true, 1, 1]);
  });

  it.each([
    ['lack it', NO_RESOURCES],
    ['are forbidden', forbidden],
  ])('is gone by that page where the lists %s, and nobody asks for lists again', async (_, discovery) => {
    await write('a', '1');
    const reflector = await start({ optional: true });
    bench.faulty.discovery = discovery;
    bench.faulty.watches.push({ throw: status(410) });
    bench.cluster.disconnectWatches();
    bench.faulty.lists.push(...Array.from({ length: 20 }, () => ({ throw: goPage() })));
    await bench.clock.advance(300_000);
    expect([reflector.size, kinds().includes('absent')]).toEqual([0, true]);
    expect(bench.faulty.calls.filter((call) => call.startsWith('GET'))).toEqual(['GET /api/v1']);
  });

  it('is not taken for empty because of a page of a proxy', async () => {
    const page = new KubeError('ERR_KUBE_STATUS', 'list: <h1>404 page not found</h1> (404)', { status: 404 });
    await write('a', '1');
    bench.faulty.lists.push(...Array.from({ length: 5 }, () => ({ throw: page })));
    const reflector = await start({ optional: true });
    await bench.clock.advance(10_000);
    expect(kinds().slice(0, 5)).toEqual(Array(5).fill('failed'));
    await bench.clock.advance(10_000);
    expect([reflector.size, kinds().includes('absent')]).toEqual([1, false]);
  });

  it('is not taken for empty before the server has given anybody what he asked for', async () => {
    const outage = createOutage({ clock: bench.clock, random: () => 0 });
    const reflector = await start({ resource: things, optional: true, outage });
    outage.answered(status(404));
    await bench.clock.advance(60_000);
    expect([reflector.synced, kinds()]).toEqual([false, []]);
    outage.answered();
    await bench.clock.advance(3_000);
    expect([reflector.synced, kinds()]).toEqual([true, ['absent']]);
  });

  it('is gone when the server says so twice in a row, and not before', async () => {
    await write('a', '1');
    const [lost, absent] = [{ throw: status(410) }, { throw: absentResource() }];
    bench.faulty.watches.push(lost, lost);
    bench.faulty.lists.push(undefined, absent, undefined, absent, absent);
    bench.faulty.discovery = NO_RESOURCES;
    const reflector = await start({ optional: true });
    expect(bench.faulty.lists.length).toBe(3);
    await bench.clock.advance(32_000);
    expect([bench.faulty.lists.length, kinds().includes('absent')]).toEqual([1, false]);
    expect(bench.changes).toEqual(['added default/a  1']);
    await bench.clock.advance(32_000);
    expect([reflector.size, kinds().includes('absent')]).toEqual([0, true]);
  });
});

it('stops when it is told to, whatever it is doing', async () => {
  const reflector = await start();
  bench.stop.abort();
  await Promise.all(bench.running);
  await write('a', '1');
  await bench.clock.advance(1000);
  expect(bench.changes).toEqual([]);
  expect(reflector.synced).toBe(true);
});

it('stops while it waits', async () => {
  bench.faulty.lists.push({ throw: reset() });
  await start();
  bench.stop.abort();
  await Promise.all(bench.running);
});
