import { expect } from 'vitest';
import { CONFIG_MAPS, PODS, SERVICES } from '../../../kube/resources.ts';
import { at, type Harness, newConfigMap, pod, refusal, withServiceAccount } from './harness.ts';

export const patchCases = ({ test }: Harness): void => {
  test('JSON patch changes single places', async (context) => {
    const { client, namespace } = context;
    await newConfigMap(context, 'a', { x: '1', y: '2' });
    const patched = await client.patch(
      CONFIG_MAPS,
      { namespace, name: 'a' },
      {
        type: 'json',
        operations: [
          { op: 'test', path: '/data/x', value: '1' },
          { op: 'replace', path: '/data/x', value: '3' },
          { op: 'remove', path: '/data/y' },
          { op: 'add', path: '/data/w', value: '4' },
          { op: 'copy', from: '/data/w', path: '/data/v' },
          { op: 'move', from: '/data/v', path: '/data/u' },
        ],
      },
    );
    expect(patched['data']).toEqual({ x: '3', w: '4', u: '4' });
  });

  test('JSON patch is all or nothing', async (context) => {
    const { client, namespace } = context;
    const before = await newConfigMap(context, 'a', { x: '1' });
    const error = await refusal(
      client.patch(
        CONFIG_MAPS,
        { namespace, name: 'a' },
        {
          type: 'json',
          operations: [
            { op: 'add', path: '/data/y', value: '2' },
            { op: 'test', path: '/data/x', value: 'other' },
          ],
        },
      ),
    );
    expect(error.status).toBe(422);
    expect(await client.get(CONFIG_MAPS, { namespace, name: 'a' })).toEqual(before);
  });

  test('JSON patch of a place that is missing is 422', async (context) => {
    const { client, namespace } = context;
    await newConfigMap(context, 'a');
    for (const op of ['remove', 'replace'] as const) {
      const patch = { type: 'json', operations: [{ op, path: '/data/none', value: '' }] } as const;
      expect(await refusal(client.patch(CONFIG_MAPS, { namespace, name: 'a' }, patch))).toMatchObject({ status: 422 });
    }
  });

  test('merge patch merges and removes', async (context) => {
    const { client, namespace } = context;
    await newConfigMap(context, 'a', { x: '1', y: '2' });
    const body = { data: { x: null, z: '3' }, metadata: { annotations: { note: 'n' } } };
    const patched = await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body });
    expect(patched['data']).toEqual({ y: '2', z: '3' });
    expect(patched.metadata.annotations).toEqual({ note: 'n' });
  });

  test('merge patch of an old version is refused', async (context) => {
    const { client, namespace } = context;
    const { metadata } = await newConfigMap(context, 'a', { x: '1' });
    const ref = { namespace, name: 'a' };
    const patch = (resourceVersion: string, x: string) =>
      client.patch(CONFIG_MAPS, ref, { type: 'merge', body: { metadata: { resourceVersion }, data: { x } } });
    await patch(metadata.resourceVersion, '2');
    expect(await refusal(patch(metadata.resourceVersion, '3'))).toMatchObject({ status: 409, reason: 'Conflict' });
  });

  test('a patch that changes nothing is not a new version', async (context) => {
    const { client, namespace } = context;
    const before = await newConfigMap(context, 'a', { x: '1' });
    const body = { data: { x: '1', none: null } };
    const after = await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body });
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('a patch can not rename or move', async (context) => {
    const { client, namespace } = context;
    await newConfigMap(context, 'a');
    const body = { metadata: { name: 'b' } };
    const rename = client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body });
    expect((await refusal(rename)).status).toBeGreaterThanOrEqual(400);
  });

  test('a patch can not change what the server owns', async (context) => {
    const { client, namespace } = context;
    const before = await newConfigMap(context, 'a');
    const patch = (metadata: Record<string, string>) =>
      client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body: { metadata } });
    const after = await patch({ creationTimestamp: '2001-01-01T00:00:00Z' });
    expect(after.metadata.creationTimestamp).toBe(before.metadata.creationTimestamp);
    expect(await refusal(patch({ deletionTimestamp: '2001-01-01T00:00:00Z' }))).toMatchObject({ status: 422 });
  });

  test('strategic patch merges lists by key', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    const containers = [
      { name: 'one', image: 'example.org/one:1' },
      { name: 'two', image: 'example.org/two:1' },
    ];
    await client.create(PODS, pod(namespace, 'a', { containers }));
    const body = { spec: { containers: [{ name: 'two', image: 'example.org/two:2' }] } };
    const patched = await client.patch(PODS, { namespace, name: 'a' }, { type: 'strategic', body });
    const images = (at(patched, 'spec', 'containers') as { image: string }[]).map(({ image }) => image);
    expect(images).toEqual(['example.org/one:1', 'example.org/two:2']);
  });

  test('strategic patch deletes from lists', async ({ client, namespace }) => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ];
    await client.create(SERVICES, { metadata: { namespace, name: 'a' }, spec: { ports, selector: { app: 'a' } } });
    const body = { spec: { ports: [{ port: 80, $patch: 'delete' }], selector: { tier: 'b' } } };
    const patched = await client.patch(SERVICES, { namespace, name: 'a' }, { type: 'strategic', body });
    expect((at(patched, 'spec', 'ports') as { port: number }[]).map(({ port }) => port)).toEqual([443]);
    expect(at(patched, 'spec', 'selector')).toEqual({ app: 'a', tier: 'b' });
  });

  test('finalizers are merged as a set by a strategic patch', async ({ client, namespace }) => {
    const ref = { namespace, name: 'a' };
    await client.create(CONFIG_MAPS, { metadata: { ...ref, finalizers: ['example.org/one'] } });
    const body = { metadata: { finalizers: ['example.org/two'] } };
    const patched = await client.patch(CONFIG_MAPS, ref, { type: 'strategic', body });
    expect([...(patched.metadata.finalizers ?? [])].sort()).toEqual(['example.org/one', 'example.org/two']);
    const drop = { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.org/one'] } };
    const dropped = await client.patch(CONFIG_MAPS, ref, { type: 'strategic', body: drop });
    expect(dropped.metadata.finalizers).toEqual(['example.org/two']);
    await client.patch(CONFIG_MAPS, ref, { type: 'merge', body: { metadata: { finalizers: null } } });
  });

  test('a patch of an unknown type is 415', async (context) => {
    await newConfigMap(context, 'a');
    const path = `/api/v1/namespaces/${context.namespace}/configmaps/a`;
    const request = { method: 'PATCH', path, body: {}, contentType: 'application/json' };
    expect(await refusal(context.client.request(request))).toMatchObject({ status: 415 });
  });
};
