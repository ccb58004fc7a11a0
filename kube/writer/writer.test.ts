import { describe, expect, it } from 'vitest';
import { isAlreadyExists, isConflict, isReplaced, KubeError } from '../errors.ts';
import { CONFIG_MAPS } from '../resources.ts';
import { ANNOTATION, bench, namespace, ref, settled, status } from './bench.suite.ts';

describe('create', () => {
  const object = { metadata: ref, data: { n: '1' } };

  it('carries the field manager', async () => {
    const { writer, created } = bench();
    const { metadata, data } = await writer.create(CONFIG_MAPS, object);
    expect(data).toEqual({ n: '1' });
    expect(metadata.managedFields).toEqual([expect.objectContaining({ manager: 'test', operation: 'Update' })]);
    expect(created).toEqual(['a']);
  });

  it('reports that the object exists, which nobody observes as a failure', async () => {
    const { writer, created, observed } = bench();
    await writer.create(CONFIG_MAPS, object);
    await expect(writer.create(CONFIG_MAPS, object)).rejects.toSatisfy(isAlreadyExists);
    expect(created).toHaveLength(2);
    expect(observed.map(({ kind }) => kind)).toEqual(['written']);
  });

  it('is retried after an error of the server, and never combined with another write', async () => {
    const { writer, apply, created, patches, faults, clock } = bench();
    faults.push(status(503));
    const both = [writer.create(CONFIG_MAPS, object), apply('2')];
    await clock.advance(1000);
    expect((await Promise.all(both)).map(({ data }) => data)).toEqual([{ n: '1' }, { n: '2' }]);
    expect([created.length, patches.length]).toEqual([2, 1]);
  });
});

describe('apply', () => {
  it('carries the field manager and takes fields by force', async () => {
    const { apply, patches } = bench();
    const object = await apply('1');
    expect(object['data']).toEqual({ n: '1' });
    expect(patches).toEqual([
      {
        name: 'a',
        subresource: undefined,
        patch: expect.objectContaining({ type: 'apply', fieldManager: 'test', force: true }),
      },
    ]);
  });

  it('of one turn is one request, the latest', async () => {
    const { apply, patches, observed } = bench();
    const results = await Promise.all([apply('1'), apply('2'), apply('3')]);
    expect(results.map(({ data }) => data)).toEqual([{ n: '3' }, { n: '3' }, { n: '3' }]);
    expect(patches).toHaveLength(1);
    expect(observed.map(({ kind }) => kind)).toEqual(['coalesced', 'coalesced', 'written']);
  });

  it('while another is under way waits for it, and the rest is one request', async () => {
    const { apply, patches, gate, clock } = bench();
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.open = promise;
    const first = apply('1');
    await clock.advance(0);
    const later = [apply('2'), apply('3')];
    await clock.advance(0);
    expect(patches).toHaveLength(1);
    resolve();
    expect((await first)['data']).toEqual({ n: '1' });
    expect((await Promise.all(later)).map(({ data }) => data)).toEqual([{ n: '3' }, { n: '3' }]);
    expect(patches).toHaveLength(2);
  });

  it('of different managers and subresources is different', async () => {
    const { writer, patches } = bench();
    const object = { metadata: ref };
    await Promise.all([
      writer.apply(CONFIG_MAPS, object),
      writer.apply(CONFIG_MAPS, object, { fieldManager: 'other' }),
      writer.apply(CONFIG_MAPS, object, { fieldManager: 'other', force: false }),
    ]);
    expect(patches).toHaveLength(3);
  });

  it('of different objects runs side by side, but not too many', async () => {
    const { apply, most, patches, gate, clock } = bench({ concurrency: 3 });
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.open = promise;
    const results = Array.from({ length: 10 }, (_, i) => apply('1', `object-${i}`));
    await clock.advance(0);
    resolve();
    await Promise.all(results);
    expect([patches.length, most()]).toEqual([10, 3]);
  });

  it.each([
    ['conflicts', status(409, { reason: 'Conflict' })],
    ['overload', status(429)],
    ['server errors', status(503)],
    ['lost connections', new KubeError('ERR_KUBE_NETWORK', 'reset')],
  ])('is tried again after %s', async (_, fault) => {
    const { apply, faults, clock, retries } = bench();
    faults.push(fault, fault);
    const result = apply('1');
    await clock.advance(1000);
    expect((await result)['data']).toEqual({ n: '1' });
    expect(retries()).toBe(2);
  });

  it('waits as long as the server asks', async () => {
    const { apply, faults, clock, patches } = bench();
    faults.push(status(429, { retryAfterMs: 9000 }));
    const result = apply('1');
    await clock.advance(8999);
    expect(patches).toHaveLength(1);
    await clock.advance(1);
    await result;
    expect(patches).toHaveLength(2);
  });

  it.each([
    ['a refusal', status(422)],
    ['a field of another manager', status(409, { reason: 'Conflict', causes: [{ reason: 'FieldManagerConflict' }] })],
    ['an absent object', status(404)],
  ])('is not tried again after %s', async (_, fault) => {
    const { apply, faults, patches } = bench();
    faults.push(fault);
    await expect(apply('1')).rejects.toBe(fault);
    expect(patches).toHaveLength(1);
  });

  it('of a named version is not tried again after a conflict', async () => {
    const { writer, faults } = bench();
    faults.push(status(409, { reason: 'Conflict' }));
    const late = writer.apply(CONFIG_MAPS, { metadata: { ...ref, resourceVersion: '1' } });
    await expect(late).rejects.toMatchObject({ status: 409 });
  });

  it('is given up after a while', async () => {
    const { apply, faults, clock, observed } = bench({ giveUpAfterMs: 30_000 });
    faults.push(...Array.from({ length: 100 }, () => status(500)));
    const result = settled(apply('1'));
    await clock.advance(60_000);
    expect(await result).toMatchObject({ error: { status: 500 } });
    expect(observed.at(-1)?.kind).toBe('failed');
    faults.length = 0;
    expect((await apply('2'))['data']).toEqual({ n: '2' });
  });

  it('that waits to be tried again makes way for a newer one', async () => {
    const { apply, faults, clock, patches } = bench();
    faults.push(status(500));
    const first = apply('1');
    await clock.advance(10);
    const second = apply('2');
    await clock.advance(1000);
    expect((await first)['data']).toEqual({ n: '2' });
    expect((await second)['data']).toEqual({ n: '2' });
    expect(patches).toHaveLength(2);
  });

  it('that fails while a newer one waits becomes a part of that', async () => {
    const { apply, faults, gate, clock, patches } = bench();
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.open = promise;
    faults.push(status(500));
    const first = apply('1');
    await clock.advance(0);
    const second = apply('2');
    resolve();
    await clock.advance(1000);
    expect((await first)['data']).toEqual({ n: '2' });
    expect((await second)['data']).toEqual({ n: '2' });
    expect(patches).toHaveLength(2);
  });

  it('needs a name', () => {
    const { writer } = bench();
    expect(() => writer.apply(CONFIG_MAPS, { metadata: { namespace } })).toThrow(TypeError);
  });
});

describe('a signal', () => {
  it('frees its caller and takes back what was not sent', async () => {
    const { apply, patches, writer } = bench();
    const stop = new AbortController();
    const result = settled(apply('1', 'a', stop.signal));
    stop.abort(new Error('enough'));
    expect(await result).toMatchObject({ error: { message: 'enough' } });
    await writer.idle();
    expect(patches).toHaveLength(0);
  });

  it('of one caller does not disturb another', async () => {
    const { apply } = bench();
    const stop = new AbortController();
    const gone = settled(apply('1', 'a', stop.signal));
    const stays = apply('2');
    stop.abort(new Error('enough'));
    expect(await gone).toMatchObject({ error: { message: 'enough' } });
    expect((await stays)['data']).toEqual({ n: '2' });
  });

  it('ends a request and a wait that nobody is interested in', async () => {
    const { apply, faults, clock, writer } = bench();
    const stop = new AbortController();
    faults.push(status(500));
    const result = settled(apply('1', 'a', stop.signal));
    await clock.advance(1);
    stop.abort(new Error('enough'));
    await writer.idle();
    expect(await result).toMatchObject({ error: { message: 'enough' } });
  });

  it('that has aborted already sends nothing', async () => {
    const { apply, patches, writer } = bench();
    await expect(apply('1', 'a', AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
    await writer.idle();
    expect(patches).toHaveLength(0);
  });
});

describe('merge', () => {
  it('composes what is asked for together', async () => {
    const { apply, writer, patches } = bench();
    await apply('1');
    const annotate = (annotations: Record<string, string | null>) =>
      writer.merge(CONFIG_MAPS, ref, { metadata: { annotations } });
    const [object] = await Promise.all([
      annotate({ a: '1', b: '1' }),
      annotate({ b: '2', c: '3' }),
      annotate({ a: null }),
    ]);
    expect(object?.metadata.annotations).toEqual({ b: '2', c: '3' });
    expect(patches).toHaveLength(2);
  });

  it('sends one after the other what is no one patch', async () => {
    const { apply, writer, patches } = bench();
    await apply('1');
    await Promise.all([
      writer.merge(CONFIG_MAPS, ref, { data: null }),
      writer.merge(CONFIG_MAPS, ref, { data: { m: '2' } }),
    ]);
    expect(patches).toHaveLength(3);
  });
});

describe('a write for one object', () => {
  const replacedBench = async () => {
    const tools = bench();
    const { metadata: first } = await tools.apply('1');
    await tools.client.delete(CONFIG_MAPS, ref);
    const { metadata: second } = await tools.client.create(CONFIG_MAPS, { metadata: ref });
    tools.patches.length = 0;
    return { ...tools, first, second };
  };
  const REPLACED = { code: 'ERR_KUBE_REPLACED', message: expect.stringContaining('default/a is another object now') };

  it('learns at once that another one has its name', async () => {
    const { writer, client, patches, retries, first, second } = await replacedBench();
    const metadata = { ...ref, uid: first.uid };
    await expect(writer.apply(CONFIG_MAPS, { metadata, data: { n: '2' } })).rejects.toMatchObject(REPLACED);
    const merged = writer.merge(CONFIG_MAPS, ref, { metadata: { uid: first.uid }, data: { n: '2' } });
    await expect(merged).rejects.toSatisfy((error) => isReplaced(error) && !isConflict(error));
    expect(patches).toHaveLength(2);
    expect(retries()).toBe(0);
    expect((await client.get(CONFIG_MAPS, ref)).metadata.resourceVersion).toBe(second.resourceVersion);
  });

  it('learns it when a server answers a wrong uid as it answers a wrong version', async () => {
    const { writer, faults, patches, retries, first } = await replacedBench();
    faults.push(status(409, { reason: 'Conflict' }));
    const applied = writer.apply(CONFIG_MAPS, { metadata: { ...ref, uid: first.uid } });
    await expect(applied).rejects.toMatchObject(REPLACED);
    expect(patches).toHaveLength(1);
    expect(retries()).toBe(0);
  });

  it('never recreates it', async () => {
    const { writer, client, patches, first } = await replacedBench();
    await client.delete(CONFIG_MAPS, ref);
    const metadata = { ...ref, uid: first.uid };
    await expect(writer.apply(CONFIG_MAPS, { metadata })).rejects.toMatchObject({ status: 404 });
    await expect(client.get(CONFIG_MAPS, ref)).rejects.toMatchObject({ status: 404 });
    expect(patches).toHaveLength(1);
  });

  it('is retried after another conflict, and learns what is wrong with it', async () => {
    const { writer, faults, clock, second } = await replacedBench();
    const metadata = { ...ref, uid: second.uid };
    faults.push(status(409, { reason: 'Conflict' }));
    const written = settled(writer.apply(CONFIG_MAPS, { metadata, data: { n: '2' } }));
    await clock.advance(1000);
    expect(await written).toMatchObject({ value: { data: { n: '2' } } });
    const invalid = writer.apply(CONFIG_MAPS, { metadata, data: { 'not a key!': '' } });
    await expect(invalid).rejects.toMatchObject({ status: 422 });
  });

  it('does not become one with a write for its successor', async () => {
    const { writer, client, patches, first, second } = await replacedBench();
    const merge = (uid: string, n: string) =>
      settled(writer.merge(CONFIG_MAPS, ref, { metadata: { uid }, data: { [n]: '' } }));
    const map = (uid: string, key: string) =>
      settled(writer.patchJsonMap(CONFIG_MAPS, ref, ANNOTATION, { [key]: 1 }, { uid }));
    const late = [merge(first.uid, 'a'), map(first.uid, 'a')];
    const own = [merge(second.uid, 'b'), map(second.uid, 'b')];
    for (const result of await Promise.all(late)) expect(result).toMatchObject({ error: REPLACED });
    for (const result of await Promise.all(own)) expect(result).toHaveProperty('value');
    const object = await client.get(CONFIG_MAPS, ref);
    expect(object['data']).toEqual({ b: '' });
    expect(object.metadata.annotations).toEqual({ [ANNOTATION]: '{"b":1}' });
    expect(patches).toHaveLength(3);
  });
});
