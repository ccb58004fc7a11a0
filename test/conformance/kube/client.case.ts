/** The client's own parts against a server. */
import { expect } from 'vitest';
import { isListed } from '../../../kube/reflector/discovery.ts';
import { createReflector } from '../../../kube/reflector/reflector.ts';
import { CONFIG_MAPS } from '../../../kube/resources.ts';
import { patchJsonMapAnnotation } from '../../../kube/writer/json-map-annotation.ts';
import { createWriter } from '../../../kube/writer/writer.ts';
import { eventually, type Harness, newConfigMap } from './harness.ts';

const ANNOTATION = 'k8s.ovn.org/pod-networks';

export const clientCases = ({ test }: Harness): void => {
  test('a reflector mirrors what is there and what comes', async (context) => {
    const { client, namespace } = context;
    const stop = new AbortController();
    await newConfigMap(context, 'a', { n: '1' });
    const reflector = createReflector({
      client,
      resource: CONFIG_MAPS,
      namespace,
      fieldSelector: 'metadata.name!=kube-root-ca.crt',
      timings: { pageSize: 1 },
      project: ({ data }) => (data as { n?: string } | undefined)?.n ?? '',
    });
    const changes: string[] = [];
    reflector.subscribe(({ type, key, before, after }) => changes.push(`${type} ${key} ${before} ${after}`));
    const running = reflector.run(stop.signal);
    await reflector.whenSynced();
    await newConfigMap(context, 'b', { n: '2' });
    await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body: { data: { n: '3' } } });
    await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body: { data: { other: '' } } });
    await client.delete(CONFIG_MAPS, { namespace, name: 'b' });
    await eventually(() => {
      expect(changes).toEqual([
        `added ${namespace}/a undefined 1`,
        `added ${namespace}/b undefined 2`,
        `updated ${namespace}/a 1 3`,
        `deleted ${namespace}/b 2 undefined`,
      ]);
      return Promise.resolve();
    });
    expect([...reflector.entries()]).toEqual([[`${namespace}/a`, '3']]);
    stop.abort();
    await running;
  });

  test('its lists have what it serves, and nothing else', async ({ client }) => {
    const listed = (group: string, version: string, plural: string) => isListed(client, { group, version, plural });
    expect(await listed('', 'v1', 'pods')).toBe(true);
    expect(await listed('', 'v1', 'widgets')).toBe(false);
    expect(await listed('networking.k8s.io', 'v1', 'networkpolicies')).toBe(true);
    expect(await listed('networking.k8s.io', 'v1', 'widgets')).toBe(false);
    expect(await listed('networking.k8s.io', 'v9', 'networkpolicies')).toBe(false);
    expect(await listed('none.example.org', 'v1', 'widgets')).toBe(false);
  });

  test('many writers share one annotation', async (context) => {
    const { client, namespace } = context;
    const ref = { namespace, name: 'a' };
    await newConfigMap(context, 'a');
    const keys = ['default', 'ns/one', 'ns/two', 'ns/three'];
    const write = (key: string) => {
      const writer = createWriter({ client, fieldManager: 'conformance' });
      return writer.patchJsonMap(CONFIG_MAPS, ref, ANNOTATION, { [key]: { role: key } });
    };
    await Promise.all(keys.map(write));
    const { metadata } = await client.get(CONFIG_MAPS, ref);
    const map = JSON.parse(metadata.annotations?.[ANNOTATION] ?? '');
    expect(Object.keys(map).sort()).toEqual([...keys].sort());
    const change = { resource: CONFIG_MAPS, ref, annotation: ANNOTATION };
    const context2 = { client, fieldManager: 'conformance' };
    const removed = await patchJsonMapAnnotation(context2, {
      ...change,
      changes: Object.fromEntries(keys.map((key) => [key, undefined])),
      known: { value: 'stale', resourceVersion: '1' },
    }).catch((error: unknown) => error);
    expect(removed).toMatchObject({ code: 'ERR_KUBE_ANNOTATION' });
    const emptied = await patchJsonMapAnnotation(context2, {
      ...change,
      changes: Object.fromEntries(keys.map((key) => [key, undefined])),
      known: { value: '{"stale":1}', resourceVersion: '1' },
    });
    expect(emptied.metadata.annotations ?? {}).not.toHaveProperty([ANNOTATION]);
  });

  test('a writer sends the latest state once', async (context) => {
    const { client, namespace } = context;
    const sent: string[] = [];
    const counting = {
      get: client.get,
      create: client.create,
      patch: (...parameters: Parameters<typeof client.patch>) => {
        sent.push(parameters[2].type);
        return client.patch(...parameters);
      },
    };
    const writer = createWriter({ client: counting, fieldManager: 'conformance' });
    const data = (n: string) => ({ metadata: { namespace, name: 'a' }, data: { n } });
    const results = await Promise.all(['1', '2', '3'].map((n) => writer.apply(CONFIG_MAPS, data(n))));
    expect(results.map((object) => object['data'])).toEqual([{ n: '3' }, { n: '3' }, { n: '3' }]);
    expect(sent).toEqual(['apply']);
    await writer.idle();
  });
};
