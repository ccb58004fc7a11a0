import { expect } from 'vitest';
import { isFieldManagerConflict } from '../../../kube/errors.ts';
import { CONFIG_MAPS, SERVICES } from '../../../kube/resources.ts';
import type { KubeObject, ObjectInput, ResourceType } from '../../../kube/types.ts';
import { at, type CaseContext, type Harness, newConfigMap, refusal } from './harness.ts';

const apply = (
  { client, namespace }: CaseContext,
  fieldManager: string,
  body: Readonly<Record<string, unknown>>,
  options: { force?: boolean; resource?: ResourceType; metadata?: ObjectInput['metadata'] } = {},
): Promise<KubeObject> =>
  client.patch(
    options.resource ?? CONFIG_MAPS,
    { namespace, name: 'a' },
    {
      type: 'apply',
      fieldManager,
      force: options.force ?? false,
      body: { metadata: { namespace, name: 'a', ...options.metadata }, ...body },
    },
  );

const managers = ({ metadata }: KubeObject): string[] =>
  (metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`).sort();

export const applyCases = ({ test }: Harness): void => {
  test('creates what is absent and says who owns it', async (context) => {
    const created = await apply(context, 'one', { data: { x: '1' } });
    expect(created['data']).toEqual({ x: '1' });
    const [entry] = created.metadata.managedFields ?? [];
    expect(entry).toMatchObject({ manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' });
    expect(at(entry?.fieldsV1, 'f:data', 'f:x')).toEqual({});
  });

  test('the same again is not a new version', async (context) => {
    const first = await apply(context, 'one', { data: { x: '1' } });
    const second = await apply(context, 'one', { data: { x: '1' } });
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('managers own different fields of one object', async (context) => {
    await apply(context, 'one', { data: { x: '1' } });
    const both = await apply(context, 'two', { data: { y: '2' } });
    expect(both['data']).toEqual({ x: '1', y: '2' });
    expect(managers(both)).toEqual(['one Apply', 'two Apply']);
  });

  test('a field that is not applied any more is removed', async (context) => {
    await apply(context, 'one', { data: { x: '1', y: '2' } }, { metadata: { labels: { a: 'b' } } });
    const after = await apply(context, 'one', { data: { x: '1' } });
    expect(after['data']).toEqual({ x: '1' });
    expect(after.metadata.labels).toBeUndefined();
  });

  test('a field that another manager also owns stays', async (context) => {
    await apply(context, 'one', { data: { x: '1', y: '2' } });
    await apply(context, 'two', { data: { y: '2' } });
    const after = await apply(context, 'one', { data: { x: '1' } });
    expect(after['data']).toEqual({ x: '1', y: '2' });
  });

  test('fields of nobody stay', async (context) => {
    const { client, namespace } = context;
    await apply(context, 'one', { data: { x: '1' } });
    const body = { data: { other: 'o' } };
    await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body }, { fieldManager: 'editor' });
    const after = await apply(context, 'one', { data: {} });
    expect(after['data']).toEqual({ other: 'o' });
  });

  test('another manager’s value is a conflict', async (context) => {
    await apply(context, 'one', { data: { x: '1' } });
    const error = await refusal(apply(context, 'two', { data: { x: '2' } }));
    expect(error).toMatchObject({ status: 409, reason: 'Conflict' });
    expect(error.causes).toEqual([
      expect.objectContaining({
        reason: 'FieldManagerConflict',
        field: '.data.x',
        message: expect.stringContaining('"one"'),
      }),
    ]);
    expect(isFieldManagerConflict(error)).toBe(true);
  });

  test('the same value is no conflict', async (context) => {
    await apply(context, 'one', { data: { x: '1' } });
    const both = await apply(context, 'two', { data: { x: '1' } });
    expect(managers(both)).toEqual(['one Apply', 'two Apply']);
  });

  test('force takes the field', async (context) => {
    await apply(context, 'one', { data: { x: '1' } });
    const forced = await apply(context, 'two', { data: { x: '2' } }, { force: true });
    expect(forced['data']).toEqual({ x: '2' });
    expect(managers(forced)).toEqual(['two Apply']);
  });

  test('any other write owns what it changes', async (context) => {
    const { client, namespace } = context;
    await apply(context, 'one', { data: { x: '1', y: '1' } });
    const body = { data: { x: '2' } };
    const edited = await client.patch(
      CONFIG_MAPS,
      { namespace, name: 'a' },
      { type: 'merge', body },
      { fieldManager: 'editor' },
    );
    expect(managers(edited)).toEqual(['editor Update', 'one Apply']);
    const error = await refusal(apply(context, 'one', { data: { x: '1', y: '1' } }));
    expect(error.causes.map(({ field }) => field)).toEqual(['.data.x']);
  });

  test('a create owns what it creates', async (context) => {
    await newConfigMap(context, 'a', { x: '1' });
    const error = await refusal(apply(context, 'one', { data: { x: '2' } }));
    expect(isFieldManagerConflict(error)).toBe(true);
  });

  test('annotations of different managers live together', async (context) => {
    await apply(context, 'one', {}, { metadata: { annotations: { 'example.org/one': '1' } } });
    const both = await apply(context, 'two', {}, { metadata: { annotations: { 'example.org/two': '2' } } });
    expect(both.metadata.annotations).toEqual({ 'example.org/one': '1', 'example.org/two': '2' });
    const one = await apply(context, 'two', {});
    expect(one.metadata.annotations).toEqual({ 'example.org/one': '1' });
  });

  test('finalizers are a set', async (context) => {
    const { client, namespace } = context;
    await apply(context, 'one', {}, { metadata: { finalizers: ['example.org/one'] } });
    const both = await apply(context, 'two', {}, { metadata: { finalizers: ['example.org/two'] } });
    expect([...(both.metadata.finalizers ?? [])].sort()).toEqual(['example.org/one', 'example.org/two']);
    const two = await apply(context, 'one', {});
    expect(two.metadata.finalizers).toEqual(['example.org/two']);
    await client.patch(
      CONFIG_MAPS,
      { namespace, name: 'a' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    );
  });

  test('lists of built-in kinds are merged by key', async (context) => {
    const resource = SERVICES;
    const port = (name: string, number: number) => ({ name, port: number, protocol: 'TCP' });
    await apply(context, 'one', { spec: { ports: [port('http', 80)], selector: { app: 'a' } } }, { resource });
    const both = await apply(context, 'two', { spec: { ports: [port('https', 443)] } }, { resource });
    const ports = (service: KubeObject) => (at(service, 'spec', 'ports') as { port: number }[]).map((own) => own.port);
    expect(ports(both)).toEqual([80, 443]);
    const change = { spec: { ports: [port('other', 80)] } };
    expect((await refusal(apply(context, 'two', change, { resource }))).status).toBe(409);
    const swapped = await apply(context, 'two', { spec: { ports: [port('metrics', 9090)] } }, { resource });
    expect(ports(swapped)).toEqual([80, 9090]);
  });

  test('needs a field manager', async ({ client, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/a`;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const request = { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml' };
    expect(await refusal(client.request(request))).toMatchObject({ status: 422 });
  });

  test('does not take managedFields', async (context) => {
    const error = await refusal(apply(context, 'one', {}, { metadata: { managedFields: [{ manager: 'x' }] } }));
    expect(error.status).toBe(400);
  });

  test('of an old version is refused', async (context) => {
    const first = await apply(context, 'one', { data: { x: '1' } });
    await apply(context, 'one', { data: { x: '2' } });
    const { resourceVersion } = first.metadata;
    const late = apply(context, 'one', { data: { x: '3' } }, { metadata: { resourceVersion } });
    expect(await refusal(late)).toMatchObject({ status: 409, reason: 'Conflict' });
  });
};
