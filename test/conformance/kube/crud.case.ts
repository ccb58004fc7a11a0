import { expect } from 'vitest';
import { NODE_SUBNETS_BYTES } from '../../../cluster-manager/allocation/network-room.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../kube/resources.ts';
import { at, configMap, type Harness, newConfigMap, refusal } from './harness.ts';

export const crudCases = ({ test }: Harness): void => {
  test('a new object gets a uid, a version and a time', async (context) => {
    const { client, namespace } = context;
    const created = await newConfigMap(context, 'a', { key: 'value' });
    expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'value' } });
    expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(Date.parse(created.metadata.creationTimestamp ?? '')).toBeGreaterThan(0);
    expect(await client.get(CONFIG_MAPS, { namespace, name: 'a' })).toEqual(created);
  });

  test('a name is taken once', async (context) => {
    await newConfigMap(context, 'a');
    expect(await refusal(newConfigMap(context, 'a'))).toMatchObject({ status: 409, reason: 'AlreadyExists' });
  });

  test('generateName makes names', async ({ client, namespace }) => {
    const input = { metadata: { namespace, generateName: 'pre-' } };
    const made = await Promise.all([1, 2, 3].map(() => client.create(CONFIG_MAPS, input)));
    expect(new Set(made.map(({ metadata }) => metadata.name)).size).toBe(3);
    for (const { metadata } of made) expect(metadata.name).toMatch(/^pre-[a-z0-9]{5}$/);
    expect(made[0]?.metadata.generateName).toBe('pre-');
  });

  test('what is not there is NotFound', async ({ client, namespace }) => {
    const ref = { namespace, name: 'none' };
    const expected = { status: 404, reason: 'NotFound' };
    expect(await refusal(client.get(CONFIG_MAPS, ref))).toMatchObject(expected);
    expect(await refusal(client.update(CONFIG_MAPS, configMap(namespace, 'none')))).toMatchObject(expected);
    expect(await refusal(client.patch(CONFIG_MAPS, ref, { type: 'merge', body: {} }))).toMatchObject(expected);
    expect(await refusal(client.delete(CONFIG_MAPS, ref))).toMatchObject(expected);
  });

  test('an object needs an existing namespace', async ({ client }) => {
    const error = await refusal(client.create(CONFIG_MAPS, configMap('no-such-namespace', 'a')));
    expect(error).toMatchObject({ status: 404, reason: 'NotFound' });
  });

  test('a name must be a DNS name', async (context) => {
    const error = await refusal(newConfigMap(context, 'Not_A_Name'));
    expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
    expect(error.causes).toContainEqual(
      expect.objectContaining({ reason: 'FieldValueInvalid', field: 'metadata.name' }),
    );
  });

  test('a namespace name must be a DNS label', async ({ client }) => {
    expect(await refusal(client.create(NAMESPACES, { metadata: { name: 'a.b' } }))).toMatchObject({ status: 422 });
  });

  test('labels are checked', async ({ client, namespace }) => {
    const create = (labels: Record<string, string>) =>
      client.create(CONFIG_MAPS, { metadata: { namespace, name: 'a', labels } });
    expect(await refusal(create({ a: 'not valid' }))).toMatchObject({ status: 422 });
    expect(await refusal(create({ 'a b': '' }))).toMatchObject({ status: 422 });
  });

  test('the namespace in the body must be that of the URL', async ({ client, namespace }) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    expect(await refusal(client.request({ method: 'POST', path, body }))).toMatchObject({ status: 400 });
  });

  test('the kind in the body must be that of the URL', async ({ client, namespace }) => {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    expect(await refusal(client.request({ method: 'POST', path, body }))).toMatchObject({ status: 400 });
  });

  test('an update of an old version is refused', async (context) => {
    const { client } = context;
    const first = await newConfigMap(context, 'a', { n: '1' });
    const second = await client.update(CONFIG_MAPS, { ...first, data: { n: '2' } });
    expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
    const error = await refusal(client.update(CONFIG_MAPS, { ...first, data: { n: '3' } }));
    expect(error).toMatchObject({ status: 409, reason: 'Conflict' });
  });

  test('an update without a version overwrites', async (context) => {
    const { client, namespace } = context;
    const first = await newConfigMap(context, 'a', { n: '1' });
    const updated = await client.update(CONFIG_MAPS, configMap(namespace, 'a', { m: '2' }));
    expect(updated['data']).toEqual({ m: '2' });
    expect(updated.metadata).toMatchObject({
      uid: first.metadata.uid,
      creationTimestamp: first.metadata.creationTimestamp,
    });
  });

  test('an update of another uid is refused', async (context) => {
    const { client, namespace } = context;
    await newConfigMap(context, 'a');
    const other = { metadata: { namespace, name: 'a', uid: '00000000-0000-0000-0000-000000000000' } };
    expect(await refusal(client.update(CONFIG_MAPS, other))).toMatchObject({ status: 409, reason: 'Conflict' });
  });

  test('a patch of another uid is refused', async (context) => {
    const { client, namespace } = context;
    const ref = { namespace, name: 'a' };
    const metadata = { ...ref, uid: '00000000-0000-0000-0000-000000000000' };
    const apply = () =>
      refusal(client.patch(CONFIG_MAPS, ref, { type: 'apply', body: { metadata }, fieldManager: 'test', force: true }));
    expect(await apply()).toMatchObject({ status: 409, reason: 'Conflict' });
    await newConfigMap(context, 'a');
    expect(await apply()).toMatchObject({ status: 422, reason: 'Invalid' });
    const merge = client.patch(CONFIG_MAPS, ref, { type: 'merge', body: { metadata, data: { n: '1' } } });
    expect(await refusal(merge)).toMatchObject({ status: 422, reason: 'Invalid' });
  });

  test('an update that changes nothing is not a new version', async (context) => {
    const first = await newConfigMap(context, 'a', { n: '1' });
    const second = await context.client.update(CONFIG_MAPS, first);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('a dry run stores nothing', async (context) => {
    const { client, namespace } = context;
    const dry = { dryRun: true };
    const created = await client.create(CONFIG_MAPS, configMap(namespace, 'dry'), dry);
    expect(created.metadata.uid).toBeTruthy();
    expect(await refusal(client.get(CONFIG_MAPS, { namespace, name: 'dry' }))).toMatchObject({ status: 404 });
    const real = await newConfigMap(context, 'a', { n: '1' });
    const updated = await client.update(CONFIG_MAPS, { ...real, data: { n: '2' } }, dry);
    expect(updated['data']).toEqual({ n: '2' });
    await client.delete(CONFIG_MAPS, { namespace, name: 'a' }, dry);
    expect(await client.get(CONFIG_MAPS, { namespace, name: 'a' })).toEqual(real);
  });

  test('a delete can be bound to a uid and a version', async (context) => {
    const { client, namespace } = context;
    const ref = { namespace, name: 'a' };
    const { metadata } = await newConfigMap(context, 'a');
    const otherUid = { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } };
    expect(await refusal(client.delete(CONFIG_MAPS, ref, otherUid))).toMatchObject({ status: 409 });
    const oldVersion = { preconditions: { resourceVersion: '1' } };
    expect(await refusal(client.delete(CONFIG_MAPS, ref, oldVersion))).toMatchObject({ status: 409 });
    const { uid, resourceVersion } = metadata;
    await client.delete(CONFIG_MAPS, ref, { preconditions: { uid, resourceVersion } });
    expect(await refusal(client.get(CONFIG_MAPS, ref))).toMatchObject({ status: 404 });
  });

  test('a delete answers with a success', async (context) => {
    const { client, namespace } = context;
    const { metadata } = await newConfigMap(context, 'a');
    const answer = await client.delete(CONFIG_MAPS, { namespace, name: 'a' });
    expect(answer).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'a', uid: metadata.uid } });
  });

  test('a collection is deleted by selector', async (context) => {
    const { client, namespace } = context;
    for (const name of ['a', 'b']) {
      await client.create(CONFIG_MAPS, { metadata: { namespace, name, labels: { drop: 'yes' } } });
    }
    await newConfigMap(context, 'keep');
    const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=drop%3Dyes`;
    await client.request({ method: 'DELETE', path });
    const { items } = await client.list(CONFIG_MAPS, { namespace });
    const names = items.map(({ metadata }) => metadata.name);
    expect(names).toContain('keep');
    expect(names).not.toContain('a');
    expect(names).not.toContain('b');
  });

  test('paths that are not served are 404', async ({ client }) => {
    for (const path of ['/api/v2/pods', '/apis/no.such.group/v1/things', '/api/v1/nosuchthings']) {
      expect(await refusal(client.request({ method: 'GET', path }))).toMatchObject({ status: 404 });
    }
  });

  test('a method that a path does not have is 405', async ({ client, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(await refusal(client.request({ method: 'PUT', path, body }))).toMatchObject({ status: 405 });
  });

  test('the kind may be left out', async ({ client, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const body = { metadata: { name: 'a' } };
    expect(await client.request({ method: 'POST', path, body })).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  test('a body that is not an object is 400', async ({ client, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    expect(await refusal(client.request({ method: 'POST', path, body: 'text' }))).toMatchObject({ status: 400 });
  });

  test('annotations are strings', async ({ client, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', annotations: { n: 1 } } };
    expect(await refusal(client.request({ method: 'POST', path, body }))).toMatchObject({ status: 400 });
  });

  test('annotations of an object are 256 KiB together, their names included', async ({ client, namespace }) => {
    const limit = 256 * 1024;
    const most = { a: 'x'.repeat(NODE_SUBNETS_BYTES), b: 'ü'.repeat((limit - NODE_SUBNETS_BYTES - 2) / 2) };
    const ref = { namespace, name: 'a' };
    await client.create(CONFIG_MAPS, { metadata: { ...ref, annotations: most } });
    const patch = { type: 'merge', body: { metadata: { annotations: { c: '' } } } } as const;
    const error = await refusal(client.patch(CONFIG_MAPS, ref, patch));
    expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
    expect(error.causes).toContainEqual({
      reason: 'FieldValueTooLong',
      field: 'metadata.annotations',
      message: expect.stringContaining(`Too long: may not be more than ${limit} bytes`),
    });
  });

  test('discovery names kinds, scope and verbs', async ({ client }) => {
    const core = await client.request({ method: 'GET', path: '/api/v1' });
    expect(at(core, 'resources')).toContainEqual(
      expect.objectContaining({
        name: 'pods',
        kind: 'Pod',
        namespaced: true,
        verbs: expect.arrayContaining(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']),
      }),
    );
    expect(at(core, 'resources')).toContainEqual(expect.objectContaining({ name: 'nodes/status', kind: 'Node' }));
    const groups = await client.request({ method: 'GET', path: '/apis' });
    const names = (at(groups, 'groups') as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['networking.k8s.io', 'discovery.k8s.io', 'coordination.k8s.io']));
  });
};
