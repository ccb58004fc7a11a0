import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../resources.ts';
import type { KubeClient } from '../types.ts';
import { ANNOTATION, bench, ref, status } from './bench.suite.ts';
import { patchJsonMapAnnotation, planJsonMapChange } from './json-map-annotation.ts';

describe('an annotation that several programs write', () => {
  const object = (value?: string) => ({ value, resourceVersion: '7' });
  const plan = (value: string | undefined, changes: Record<string, unknown>) =>
    planJsonMapChange(object(value), { ref, annotation: ANNOTATION, changes });
  const path = '/metadata/annotations/k8s.ovn.org~1pod-networks';

  it('is changed on condition that it is as it was read', () => {
    expect(plan('{"default":1}', { 'ns/nad': { role: 'primary' } })).toEqual({
      type: 'json',
      operations: [
        { op: 'test', path, value: '{"default":1}' },
        { op: 'replace', path, value: '{"default":1,"ns/nad":{"role":"primary"}}' },
      ],
    });
  });

  it('is added on condition that the object is as it was read', () => {
    expect(plan(undefined, { a: 1 })).toEqual({
      type: 'merge',
      body: { metadata: { resourceVersion: '7', annotations: { [ANNOTATION]: '{"a":1}' } } },
    });
  });

  it.each([[undefined], ['{"a":0}']])('is changed of the object that was meant only: %j', async (value) => {
    const { client } = bench();
    const annotations = value === undefined ? {} : { [ANNOTATION]: value };
    const { metadata: first } = await client.create(CONFIG_MAPS, { metadata: { ...ref, annotations } });
    await client.delete(CONFIG_MAPS, ref);
    const { metadata: second } = await client.create(CONFIG_MAPS, { metadata: { ...ref, annotations } });
    const change = { resource: CONFIG_MAPS, ref, annotation: ANNOTATION, changes: { a: 1 } };
    // The mirror has the successor already, whoever writes has not.
    for (const known of [undefined, { value, resourceVersion: second.resourceVersion }]) {
      const written = patchJsonMapAnnotation({ client, fieldManager: 'test' }, { ...change, known, uid: first.uid });
      await expect(written).rejects.toMatchObject({ code: 'ERR_KUBE_REPLACED' });
    }
    expect((await client.get(CONFIG_MAPS, ref)).metadata.resourceVersion).toBe(second.resourceVersion);
    await patchJsonMapAnnotation({ client, fieldManager: 'test' }, { ...change, uid: second.uid });
    expect((await client.get(CONFIG_MAPS, ref)).metadata.annotations).toEqual({ [ANNOTATION]: '{"a":1}' });
  });

  it('goes with its last key', () => {
    expect(plan('{"a":1}', { a: undefined })).toEqual({
      type: 'json',
      operations: [
        { op: 'test', path, value: '{"a":1}' },
        { op: 'remove', path },
      ],
    });
  });

  it('is left alone when it says the same', () => {
    expect(plan('{ "a": {"x":1,"y":2} }', { a: { y: 2, x: 1 }, b: undefined })).toBeUndefined();
    expect(plan(undefined, { a: undefined })).toBeUndefined();
  });

  it.each(['[]', '1', '{', '"text"'])('is refused when it is %s', (value) => {
    expect(() => plan(value, { a: 1 })).toThrow(expect.objectContaining({ code: 'ERR_KUBE_ANNOTATION' }));
  });

  it('is one request for several keys', async () => {
    const { apply, writer, patches } = bench();
    await apply('1');
    const [written] = await Promise.all(
      ['a', 'b'].map((key) => writer.patchJsonMap(CONFIG_MAPS, ref, ANNOTATION, { [key]: key })),
    );
    expect(written?.metadata.annotations).toEqual({ [ANNOTATION]: '{"a":"a","b":"b"}' });
    expect(patches).toHaveLength(2);
  });

  it('is read first only when it is not known', async () => {
    const { apply, client } = bench();
    const { metadata } = await apply('1');
    const calls: string[] = [];
    const counting: Pick<KubeClient, 'get' | 'patch'> = {
      get: (...parameters) => {
        calls.push('get');
        return client.get(...parameters);
      },
      patch: (...parameters) => {
        calls.push('patch');
        return client.patch(...parameters);
      },
    };
    const change = (key: string, known?: { value: string | undefined; resourceVersion: string }) =>
      patchJsonMapAnnotation(
        { client: counting, fieldManager: 'test' },
        { resource: CONFIG_MAPS, ref, annotation: ANNOTATION, changes: { [key]: 1 }, known },
      );
    const { resourceVersion } = metadata;
    await change('a', { value: undefined, resourceVersion });
    expect(calls.splice(0)).toEqual(['patch']);
    await change('b', { value: '{"a":1}', resourceVersion: 'any' });
    expect(calls.splice(0)).toEqual(['patch']);
    // What was known is not true any more.
    await change('c', { value: '{"a":1}', resourceVersion: 'any' });
    expect(calls.splice(0)).toEqual(['patch', 'get', 'patch']);
    await change('d', { value: undefined, resourceVersion });
    expect(calls.splice(0)).toEqual(['patch', 'get', 'patch']);
    // The mirror says that nothing has to be done, and is wrong.
    await change('e', { value: '{"e":1}', resourceVersion });
    expect(calls.splice(0)).toEqual(['get', 'patch']);
    const last = await change('e');
    expect(calls.splice(0)).toEqual(['get']);
    expect(JSON.parse(last.metadata.annotations?.[ANNOTATION] ?? '')).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 1 });
  });

  it('is not tried again when the server refuses the value itself', async () => {
    const { apply, writer, faults, patches } = bench();
    await apply('1');
    await writer.patchJsonMap(CONFIG_MAPS, ref, ANNOTATION, { a: 1 });
    faults.push(status(422));
    await expect(writer.patchJsonMap(CONFIG_MAPS, ref, ANNOTATION, { b: 1 })).rejects.toMatchObject({ status: 422 });
    expect(patches).toHaveLength(3);
  });
});
