import { expect } from 'vitest';
import { isNotFound } from '../../../kube/errors.ts';
import { CONFIG_MAPS, PODS } from '../../../kube/resources.ts';
import { at, type CaseContext, type Harness, pod, refusal, withServiceAccount } from './harness.ts';
import { widget, withWidgets } from './widgets.ts';

const FINALIZER = 'example.org/hold';

const held = ({ client, namespace }: CaseContext) =>
  client.create(CONFIG_MAPS, { metadata: { namespace, name: 'a', finalizers: [FINALIZER] }, data: { x: '1' } });

const release = ({ client, namespace }: CaseContext) =>
  client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body: { metadata: { finalizers: null } } });

export const deletionCases = ({ test }: Harness): void => {
  test('a finalizer holds an object', async (context) => {
    const { client, namespace } = context;
    const ref = { namespace, name: 'a' };
    const before = await held(context);
    const answer = await client.delete(CONFIG_MAPS, ref);
    expect(at(answer, 'metadata', 'deletionTimestamp')).toBeTruthy();
    const waiting = await client.get(CONFIG_MAPS, ref);
    expect(waiting.metadata.uid).toBe(before.metadata.uid);
    expect(waiting.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    await release(context);
    expect(isNotFound(await refusal(client.get(CONFIG_MAPS, ref)))).toBe(true);
  });

  test('deleting again changes nothing', async (context) => {
    const { client, namespace } = context;
    const ref = { namespace, name: 'a' };
    await held(context);
    await client.delete(CONFIG_MAPS, ref);
    const first = await client.get(CONFIG_MAPS, ref);
    await client.delete(CONFIG_MAPS, ref);
    expect(await client.get(CONFIG_MAPS, ref)).toEqual(first);
    await release(context);
  });

  test('an object that is being deleted can be updated', async (context) => {
    const { client, namespace } = context;
    await held(context);
    await client.delete(CONFIG_MAPS, { namespace, name: 'a' });
    const body = { data: { x: '2' }, metadata: { deletionTimestamp: null } };
    const updated = await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body });
    expect(updated['data']).toEqual({ x: '2' });
    expect(updated.metadata.deletionTimestamp).toBeTruthy();
    await release(context);
  });

  test('an object that is being deleted gets no new finalizer', async (context) => {
    const { client, namespace } = context;
    await held(context);
    await client.delete(CONFIG_MAPS, { namespace, name: 'a' });
    const body = { metadata: { finalizers: [FINALIZER, 'example.org/more'] } };
    const error = await refusal(client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body }));
    expect(error).toMatchObject({ status: 422 });
    expect(error.causes).toContainEqual(expect.objectContaining({ field: 'metadata.finalizers' }));
    await release(context);
  });

  test('its name is taken until it is gone', async (context) => {
    const { client, namespace } = context;
    await held(context);
    await client.delete(CONFIG_MAPS, { namespace, name: 'a' });
    const again = client.create(CONFIG_MAPS, { metadata: { namespace, name: 'a' } });
    expect(await refusal(again)).toMatchObject({ status: 409, reason: 'AlreadyExists' });
    await release(context);
  });

  test('deletion counts as a generation', ({ client, namespace }) =>
    withWidgets(client, namespace, async (widgets) => {
      const input = widget(namespace, 'a', { size: 1 });
      await client.create(widgets, { ...input, metadata: { ...input.metadata, finalizers: [FINALIZER] } });
      const answer = await client.delete(widgets, { namespace, name: 'a' });
      expect(at(answer, 'metadata', 'generation')).toBe(2);
      const body = { metadata: { finalizers: null } };
      await client.patch(widgets, { namespace, name: 'a' }, { type: 'merge', body });
    }));

  test('a pod without a node goes at once', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    await client.create(PODS, pod(namespace, 'a'));
    await client.delete(PODS, { namespace, name: 'a' });
    expect(await refusal(client.get(PODS, { namespace, name: 'a' }))).toMatchObject({ status: 404 });
  });

  test('a pod on a node waits for its kubelet', async (context) => {
    const { client, namespace } = context;
    const ref = { namespace, name: 'a' };
    await withServiceAccount(context);
    await client.create(PODS, pod(namespace, 'a', { nodeName: 'no-such-node', terminationGracePeriodSeconds: 20 }));
    await client.delete(PODS, ref);
    const waiting = await client.get(PODS, ref);
    expect(waiting.metadata.deletionGracePeriodSeconds).toBe(20);
    expect(Date.parse(waiting.metadata.deletionTimestamp ?? '')).toBeGreaterThan(Date.now() - 5000);
    await client.delete(PODS, ref, { gracePeriodSeconds: 5 });
    expect((await client.get(PODS, ref)).metadata.deletionGracePeriodSeconds).toBe(5);
    await client.delete(PODS, ref, { gracePeriodSeconds: 10 });
    expect((await client.get(PODS, ref)).metadata.deletionGracePeriodSeconds).toBe(5);
    await client.delete(PODS, ref, { gracePeriodSeconds: 0 });
    expect(await refusal(client.get(PODS, ref))).toMatchObject({ status: 404 });
  });
};
