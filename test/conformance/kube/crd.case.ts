import { expect } from 'vitest';
import type { KubeError } from '../../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../kube/resources.ts';
import { at, eventually, type Harness, refusal } from './harness.ts';
import { widget, widgetCrd, withWidgets } from './widgets.ts';

const fields = (error: KubeError): (string | undefined)[] => error.causes.map(({ field }) => field);

export const crdCases = ({ test }: Harness): void => {
  test('is established and discovered', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      await eventually(async () => {
        const crd = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name: `widgets.${widgets.group}` });
        expect(at(crd, 'status', 'conditions')).toContainEqual(
          expect.objectContaining({ type: 'Established', status: 'True' }),
        );
        const path = `/apis/${widgets.group}/v1`;
        expect(at(await client.request({ method: 'GET', path }), 'resources')).toContainEqual(
          expect.objectContaining({ name: 'widgets', kind: 'Widget', singularName: 'widget', shortNames: ['wd'] }),
        );
      });
    }));

  test('fills in defaults', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const created = await client.create(widgets, widget(namespace, 'a', { size: 1, nested: {} }));
      expect(created['spec']).toEqual({ size: 1, color: 'red', nested: { on: true } });
      expect(created).toMatchObject({ apiVersion: `${widgets.group}/v1`, kind: 'Widget' });
    }));

  test('drops unknown fields', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const spec = { size: 1, odd: true, nested: { odd: 1 }, free: { any: { thing: [1] } }, limits: { cpu: 2 } };
      const created = await client.create(widgets, widget(namespace, 'a', spec));
      expect(created['spec']).toEqual({
        size: 1,
        color: 'red',
        nested: { on: true },
        free: { any: { thing: [1] } },
        limits: { cpu: 2 },
      });
    }));

  test('refuses unknown fields when asked to', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const input = widget(namespace, 'a', { size: 1, odd: true });
      const error = await refusal(client.create(widgets, input, { fieldValidation: 'Strict' }));
      expect(error.status).toBe(400);
      expect(error.message).toContain('unknown field "spec.odd"');
    }));

  test('checks values', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const wrong = async (spec: Record<string, unknown>) => {
        const error = await refusal(client.create(widgets, widget(namespace, 'a', spec)));
        expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
        return fields(error);
      };
      expect(await wrong({})).toEqual(['spec.size']);
      expect(await wrong({ size: 0 })).toEqual(['spec.size']);
      expect(await wrong({ size: 11 })).toEqual(['spec.size']);
      expect(await wrong({ size: 'big' })).toEqual(['spec.size']);
      expect(await wrong({ size: 1.5 })).toContain('spec.size');
      expect(await wrong({ size: null })).toEqual(['spec.size']);
      expect(await wrong({ size: 1, color: 'green' })).toEqual(['spec.color']);
      expect(await wrong({ size: 1, name: 'A' })).toEqual(['spec.name']);
      expect(await wrong({ size: 1, name: 'muchtoolong' })).toEqual(['spec.name']);
      expect(await wrong({ size: 1, limits: { cpu: 'x' } })).toEqual(['spec.limits.cpu']);
      expect(await wrong({ size: 1, tags: ['a', 'b', 'a'] })).toEqual(['spec.tags[2]']);
      expect(await wrong({ size: 1, tags: ['a', 'b', 'c', 'd'] })).toEqual(['spec.tags']);
      expect(await wrong({ size: 1, port: true })).toEqual(['spec.port']);
      expect(await wrong({ size: 1, parts: [{ count: 1 }] })).toContain('spec.parts[0].id');
      expect(await wrong({ size: 1, parts: [{ id: 'a' }, { id: 'a' }] })).toEqual(['spec.parts[1]']);
    }));

  test('takes null for nothing', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const created = await client.create(widgets, widget(namespace, 'a', { size: 1, name: null, color: null }));
      expect(created['spec']).toEqual({ size: 1, color: 'red' });
    }));

  test('takes numbers and texts where both are allowed', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      await client.create(widgets, widget(namespace, 'a', { size: 1, port: 80 }));
      await client.create(widgets, widget(namespace, 'b', { size: 1, port: 'http' }));
    }));

  test('checks updates too', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const created = await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      expect(await refusal(client.update(widgets, { ...created, spec: { size: 99 } }))).toMatchObject({ status: 422 });
      const patch = { type: 'merge', body: { spec: { size: null } } } as const;
      expect(await refusal(client.patch(widgets, { namespace, name: 'a' }, patch))).toMatchObject({ status: 422 });
    }));

  test('an update must name its version', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      const error = await refusal(client.update(widgets, widget(namespace, 'a', { size: 2 })));
      expect(error).toMatchObject({ status: 422 });
      expect(fields(error)).toEqual(['metadata.resourceVersion']);
    }));

  test('has no strategic patch', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      const patch = { type: 'strategic', body: { spec: { size: 2 } } } as const;
      expect(await refusal(client.patch(widgets, { namespace, name: 'a' }, patch))).toMatchObject({ status: 415 });
    }));

  test('declares how applied lists and maps are merged', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const apply = (fieldManager: string, spec: Record<string, unknown>, force = false) => {
        const body = widget(namespace, 'a', spec);
        return client.patch(widgets, { namespace, name: 'a' }, { type: 'apply', fieldManager, force, body });
      };
      await apply('one', { size: 1, tags: ['a'], parts: [{ id: 'a', count: 1 }], plain: ['x'], whole: { k: 'v' } });
      const both = await apply('two', { tags: ['b'], parts: [{ id: 'a', note: 'n' }, { id: 'b' }] });
      expect(both['spec']).toMatchObject({
        tags: ['a', 'b'],
        parts: [{ id: 'a', count: 1, note: 'n' }, { id: 'b' }],
      });
      expect(fields(await refusal(apply('two', { plain: ['y'] })))).toEqual(['.spec.plain']);
      expect(fields(await refusal(apply('two', { whole: { l: 'v' } })))).toEqual(['.spec.whole']);
      const item = await refusal(apply('two', { parts: [{ id: 'a', count: 2 }] }));
      expect(fields(item)).toEqual(['.spec.parts[id="a"].count']);
      const forced = await apply('two', { plain: ['y'], whole: { l: 'v' } }, true);
      expect(forced['spec']).toMatchObject({
        tags: ['a'],
        parts: [{ id: 'a', count: 1 }],
        plain: ['y'],
        whole: { l: 'v' },
      });
    }));

  test('serves a changed schema', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets, crd) => {
      const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/extra';
      const operations = [{ op: 'add', path, value: { type: 'string' } }] as const;
      await client.patch(CUSTOM_RESOURCE_DEFINITIONS, { name: crd.metadata.name }, { type: 'json', operations });
      await eventually(async () => {
        const input = widget(namespace, 'a', { size: 1, extra: 'e' });
        const { spec } = await client.create(widgets, input, { dryRun: true });
        expect(spec).toMatchObject({ extra: 'e' });
      });
    }));

  test('must be named after what it defines', async ({ client, namespace }) => {
    const crd = widgetCrd(`${namespace}.example.org`);
    const error = await refusal(
      client.create(CUSTOM_RESOURCE_DEFINITIONS, { ...crd, metadata: { name: 'widgets.other' } }),
    );
    expect(error).toMatchObject({ status: 422 });
    expect(fields(error)).toContain('metadata.name');
  });

  test('must have a structural schema', async ({ client, namespace }) => {
    const crd = widgetCrd(`${namespace}.example.org`);
    const untyped = { type: 'object', properties: { spec: { properties: {} } } };
    const [version] = at(crd, 'spec', 'versions') as Record<string, unknown>[];
    const versions = [{ ...version, schema: { openAPIV3Schema: untyped } }];
    const spec = { ...(crd['spec'] as Record<string, unknown>), versions };
    expect(await refusal(client.create(CUSTOM_RESOURCE_DEFINITIONS, { ...crd, spec }))).toMatchObject({ status: 422 });
  });

  test('takes its objects with it', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets, crd) => {
      const ref = { name: crd.metadata.name };
      await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      await client.delete(CUSTOM_RESOURCE_DEFINITIONS, ref);
      await eventually(async () => {
        expect(await refusal(client.get(CUSTOM_RESOURCE_DEFINITIONS, ref))).toMatchObject({ status: 404 });
        expect(await refusal(client.list(widgets))).toMatchObject({ status: 404 });
      });
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, widgetCrd(widgets.group));
      await eventually(async () => expect((await client.list(widgets)).items).toEqual([]));
    }));
};
