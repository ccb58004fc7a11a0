/** How ADD ends without an interface. */
import { expect, it } from 'vitest';
import { setUp, withPod } from '../testing/cni-handler.ts';

it('ADD ends when its pod is being deleted while it waits for addresses', async () => {
  const it = setUp();
  const pod = { node: 'node1', networks: {} };
  it.cluster.namespace('blue', true).pod('blue/a', pod);
  it.flush();
  const answer = it.call('ADD', { pod: 'blue/a' });
  answer.catch(() => undefined);
  it.cluster.pod('blue/a', { ...pod, leaving: true });
  it.flush();
  await expect(answer).rejects.toMatchObject({ reason: 'podGone', message: 'pod blue/a is being deleted' });
  expect(it.clock.pending).toBe(0);
});

it('ADD ends when its pod is being deleted while ovn-controller is at it, and takes back what it made', async () => {
  const it = withPod();
  it.ports.installs = false;
  const answer = it.call('ADD');
  answer.catch(() => undefined);
  await expect.poll(() => it.ports.all().length).toBe(1);
  it.cluster.pod('ns/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } }, leaving: true });
  it.flush();
  await expect(answer).rejects.toMatchObject({ reason: 'podGone', message: 'pod ns/a is being deleted' });
  expect(it.ports.all()).toEqual([]);
});

it('ADD keeps why it failed until it succeeds, of that very pod', async () => {
  const it = withPod();
  const pod = { namespace: 'ns', name: 'a', runtimeUid: 'uid-a' };
  await expect(it.call('ADD', { netns: '/run/netns/none' })).rejects.toMatchObject({ reason: 'invalidEnvironment' });
  expect(it.handler.failures.of(pod)).toContain('CNI_NETNS');
  expect(it.handler.failures.of({ ...pod, runtimeUid: 'another' })).toBeUndefined();
  await it.call('ADD');
  expect(it.handler.failures.of(pod)).toBeUndefined();
});
