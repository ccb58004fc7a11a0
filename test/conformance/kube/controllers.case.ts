/** What kube-controller-manager does on a real cluster. */
import { expect } from 'vitest';
import { isNotFound } from '../../../kube/errors.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../kube/resources.ts';
import type { DeleteOptions, KubeObject } from '../../../kube/types.ts';
import { type CaseContext, configMap, eventually, type Harness, newConfigMap, refusal } from './harness.ts';

const dependent = (
  { client, namespace }: CaseContext,
  name: string,
  owners: readonly KubeObject[],
  blockOwnerDeletion = false,
) =>
  client.create(CONFIG_MAPS, {
    metadata: {
      namespace,
      name,
      ownerReferences: owners.map(({ metadata }) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: metadata.name,
        uid: metadata.uid,
        blockOwnerDeletion,
      })),
    },
  });

const isGone = async ({ client, namespace }: CaseContext, name: string): Promise<boolean> =>
  client.get(CONFIG_MAPS, { namespace, name }).then(
    () => false,
    (error: unknown) => isNotFound(error),
  );

const drop = ({ client, namespace }: CaseContext, name: string, options: DeleteOptions = {}) =>
  client.delete(CONFIG_MAPS, { namespace, name }, options);

export const controllerCases = ({ test }: Harness): void => {
  test('dependents go after their owner', async (context) => {
    const owner = await newConfigMap(context, 'owner');
    const child = await dependent(context, 'child', [owner]);
    await dependent(context, 'grandchild', [child]);
    await drop(context, 'owner', { propagationPolicy: 'Background' });
    expect(await isGone(context, 'owner')).toBe(true);
    await eventually(async () => {
      expect(await isGone(context, 'child')).toBe(true);
      expect(await isGone(context, 'grandchild')).toBe(true);
    });
  });

  test('a dependent stays while one owner is there, and forgets the other', async (context) => {
    const one = await newConfigMap(context, 'one');
    const two = await newConfigMap(context, 'two');
    await dependent(context, 'child', [one, two]);
    await drop(context, 'one');
    await eventually(async () => {
      const child = await context.client.get(CONFIG_MAPS, { namespace: context.namespace, name: 'child' });
      expect(child.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['two']);
    });
  });

  test('a dependent of an owner that never was goes', async (context) => {
    const owner = await newConfigMap(context, 'owner');
    await drop(context, 'owner');
    await dependent(context, 'child', [owner]);
    await eventually(async () => expect(await isGone(context, 'child')).toBe(true));
  });

  test('an owner of the same name is another one', async (context) => {
    const owner = await newConfigMap(context, 'owner');
    await dependent(context, 'child', [owner]);
    await drop(context, 'owner', { propagationPolicy: 'Background' });
    await newConfigMap(context, 'owner');
    await eventually(async () => expect(await isGone(context, 'child')).toBe(true));
  });

  test('orphans stay', async (context) => {
    const { client, namespace } = context;
    const owner = await newConfigMap(context, 'owner');
    await dependent(context, 'child', [owner]);
    await drop(context, 'owner', { propagationPolicy: 'Orphan' });
    await eventually(async () => expect(await isGone(context, 'owner')).toBe(true));
    const child = await client.get(CONFIG_MAPS, { namespace, name: 'child' });
    expect(child.metadata.ownerReferences).toBeUndefined();
  });

  test('an owner waits for its dependents in the foreground', async (context) => {
    const { client, namespace } = context;
    const owner = await newConfigMap(context, 'owner');
    const child = await dependent(context, 'child', [owner], true);
    const hold = { type: 'merge', body: { metadata: { finalizers: ['example.org/hold'] } } } as const;
    await client.patch(CONFIG_MAPS, { namespace, name: 'child' }, hold);
    await drop(context, 'owner', { propagationPolicy: 'Foreground' });
    await eventually(async () => {
      const waiting = await client.get(CONFIG_MAPS, { namespace, name: child.metadata.name });
      expect(waiting.metadata.deletionTimestamp).toBeTruthy();
    });
    const held = await client.get(CONFIG_MAPS, { namespace, name: 'owner' });
    expect(held.metadata.finalizers).toContain('foregroundDeletion');
    const release = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await client.patch(CONFIG_MAPS, { namespace, name: 'child' }, release);
    await eventually(async () => {
      expect(await isGone(context, 'child')).toBe(true);
      expect(await isGone(context, 'owner')).toBe(true);
    });
  });

  test('a namespace goes with what is in it', async ({ client }) => {
    const { metadata } = await client.create(NAMESPACES, { metadata: { generateName: 'conformance-' } });
    await client.create(CONFIG_MAPS, configMap(metadata.name, 'a'));
    await client.delete(NAMESPACES, { name: metadata.name });
    await eventually(async () => {
      expect(isNotFound(await refusal(client.get(NAMESPACES, { name: metadata.name })))).toBe(true);
    });
    expect((await client.list(CONFIG_MAPS, { namespace: metadata.name })).items).toEqual([]);
  });

  test('a namespace that is being deleted takes nothing new', async ({ client }) => {
    const { metadata } = await client.create(NAMESPACES, { metadata: { generateName: 'conformance-' } });
    const namespace = metadata.name;
    const held = { metadata: { namespace, name: 'held', finalizers: ['example.org/hold'] } };
    await client.create(CONFIG_MAPS, held);
    await client.delete(NAMESPACES, { name: namespace });
    const { status, metadata: terminating } = await client.get(NAMESPACES, { name: namespace });
    expect(status).toMatchObject({ phase: 'Terminating' });
    expect(terminating.deletionTimestamp).toBeTruthy();
    const error = await refusal(client.create(CONFIG_MAPS, configMap(namespace, 'late')));
    expect(error).toMatchObject({ status: 403, reason: 'Forbidden' });
    expect(error.causes).toContainEqual(expect.objectContaining({ reason: 'NamespaceTerminating' }));
    const release = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await client.patch(CONFIG_MAPS, { namespace, name: 'held' }, release);
    await eventually(async () => {
      expect(isNotFound(await refusal(client.get(NAMESPACES, { name: namespace })))).toBe(true);
    });
  });
};
