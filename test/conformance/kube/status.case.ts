import { expect } from 'vitest';
import { NODES, PODS } from '../../../kube/resources.ts';
import { at, type Harness, pod, refusal, withServiceAccount } from './harness.ts';
import { widget, withWidgets } from './widgets.ts';

const STATUS = { subresource: 'status' };

export const statusCases = ({ test }: Harness): void => {
  test('is not set by a create', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const input = { ...widget(namespace, 'a', { size: 1 }), status: { phase: 'Done' } };
      expect((await client.create(widgets, input))['status']).toBeUndefined();
    }));

  test('and the rest of a custom object do not change each other', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const created = await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      const withStatus = await client.update(
        widgets,
        {
          ...created,
          spec: { size: 9 },
          status: { phase: 'Done' },
          metadata: { ...created.metadata, labels: { a: 'b' } },
        },
        STATUS,
      );
      expect(withStatus).toMatchObject({ spec: { size: 1 }, status: { phase: 'Done' } });
      expect(withStatus.metadata.labels).toBeUndefined();
      const withSpec = await client.update(widgets, { ...withStatus, spec: { size: 2 }, status: { phase: 'Other' } });
      expect(withSpec).toMatchObject({ spec: { size: 2 }, status: { phase: 'Done' } });
    }));

  test('of a custom object with a spec that cannot be distinguished forgets who owned what', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const created = await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      expect(created.metadata['managedFields']).toHaveLength(1);
      const written = { ...created, spec: { size: 1, parts: [{ count: 1 }] }, status: { phase: 'Done' } };
      const updated = await client.update(widgets, written, STATUS);
      expect(updated).toMatchObject({ spec: { size: 1 }, status: { phase: 'Done' } });
      expect(updated.metadata['managedFields']).toBeUndefined();
      const next = await client.patch(
        widgets,
        { namespace, name: 'a' },
        { type: 'merge', body: { spec: { size: 2 } } },
      );
      expect(next.metadata['managedFields']).toBeUndefined();
    }));

  test('generation counts changes of the spec', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const ref = { namespace, name: 'a' };
      const merge = (body: unknown, options = {}) => client.patch(widgets, ref, { type: 'merge', body }, options);
      const generation = async (change: Promise<{ metadata: { generation?: number } }>) =>
        (await change).metadata.generation;
      expect(await generation(client.create(widgets, widget(namespace, 'a', { size: 1 })))).toBe(1);
      expect(await generation(merge({ metadata: { labels: { a: 'b' } } }))).toBe(1);
      expect(await generation(merge({ status: { phase: 'Done' } }, STATUS))).toBe(1);
      expect(await generation(merge({ spec: { size: 2 } }))).toBe(2);
      expect(await generation(merge({ spec: { size: 2 } }))).toBe(2);
      expect(await generation(merge({ metadata: { generation: 7 } }))).toBe(2);
    }));

  test('can be applied by several managers', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      const apply = (fieldManager: string, conditions: unknown) => {
        const body = { metadata: { namespace, name: 'a' }, status: { conditions } };
        return client.patch(widgets, { namespace, name: 'a' }, { type: 'apply', fieldManager, body }, STATUS);
      };
      await apply('one', [{ type: 'Ready', status: 'True' }]);
      const both = await apply('two', [{ type: 'Synced', status: 'False' }]);
      expect(at(both, 'status', 'conditions')).toEqual([
        { type: 'Ready', status: 'True' },
        { type: 'Synced', status: 'False' },
      ]);
      const entry = both.metadata.managedFields?.find(({ manager }) => manager === 'two');
      expect(entry).toMatchObject({ operation: 'Apply', subresource: 'status' });
      const gone = await apply('one', []);
      expect(at(gone, 'status', 'conditions')).toEqual([{ type: 'Synced', status: 'False' }]);
      expect(gone['spec']).toMatchObject({ size: 1 });
    }));

  test('of an absent object is not applied', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const body = { metadata: { namespace, name: 'a' }, status: {} };
      const patch = { type: 'apply', fieldManager: 'one', body } as const;
      expect(await refusal(client.patch(widgets, { namespace, name: 'a' }, patch, STATUS))).toMatchObject({
        status: 404,
      });
    }));

  test('is checked by the schema', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      await client.create(widgets, widget(namespace, 'a', { size: 1 }));
      const patch = { type: 'merge', body: { status: { phase: 1 } } } as const;
      expect(await refusal(client.patch(widgets, { namespace, name: 'a' }, patch, STATUS))).toMatchObject({
        status: 422,
      });
    }));

  test('of a pod is apart from its spec', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    const created = await client.create(PODS, { ...pod(namespace, 'a'), status: { phase: 'Running' } });
    expect(at(created, 'status', 'phase')).toBe('Pending');
    const body = {
      status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
      spec: { nodeName: 'x' },
    };
    const running = await client.patch(PODS, { namespace, name: 'a' }, { type: 'strategic', body }, STATUS);
    expect(running).toMatchObject({ status: { phase: 'Running', podIP: '10.0.0.1' } });
    expect(at(running, 'spec', 'nodeName')).toBeUndefined();
  });

  test('conditions of a node are merged by type', async ({ client, namespace }) => {
    const ref = { name: namespace };
    await client.create(NODES, { metadata: ref });
    try {
      const patch = (condition: Record<string, string>) =>
        client.patch(NODES, ref, { type: 'strategic', body: { status: { conditions: [condition] } } }, STATUS);
      await patch({ type: 'Ready', status: 'False' });
      await patch({ type: 'MemoryPressure', status: 'False' });
      const node = await patch({ type: 'Ready', status: 'True' });
      const conditions = at(node, 'status', 'conditions') as { type: string; status: string }[];
      expect(conditions.map(({ type, status }) => `${type} ${status}`).sort()).toEqual([
        'MemoryPressure False',
        'Ready True',
      ]);
    } finally {
      await client.delete(NODES, ref);
    }
  });
};
