/** How ADD ends without an interface. */
import { expect, it } from 'vitest';
import { operationError } from '../../ovsdb/errors.ts';
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

it('ADD of a pod that selects a secondary network of ours is refused, and one of another plugin is not', async () => {
  const it = setUp({ foreignPlugins: [{ type: 'macvlan' }] });
  const network = {
    id: 2,
    topology: 'localnet',
    role: 'secondary',
    subnets: [],
    namespace: 'ns',
    nad: 'storage',
  } as const;
  const addressed = { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } };
  const selecting = (name: string) => ({ ...addressed, selects: name });
  it.cluster.network('ns_storage', network).pod('ns/a', selecting('storage'));
  it.flush();
  const message =
    'ns/storage as net1: network ns_storage is not on node node1: ovn-bridge-mappings of its Open vSwitch has no bridge for physical network physnet';
  await expect(it.call('ADD')).rejects.toMatchObject({ reason: 'invalidConfig', message });
  expect(it.failures).toEqual([`ns/a: ${message}`]);
  expect(it.ports.all()).toEqual([]);
  it.cluster.foreignNad('ns/macvlan').pod('ns/a', selecting('macvlan'));
  it.flush();
  expect(JSON.parse(await it.call('ADD')).ips).toHaveLength(2);
});

it('ADD of a pod that selects a NetworkAttachmentDefinition that is not there is refused until it comes', async () => {
  const it = setUp({ foreignPlugins: [{ type: 'macvlan' }] });
  const addressed = { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } };
  it.cluster.pod('ns/a', { ...addressed, selects: 'none' });
  it.flush();
  const message = 'NetworkAttachmentDefinition ns/none does not exist, or cannot be read: the pod selects it as net1';
  await expect(it.call('ADD')).rejects.toMatchObject({ reason: 'invalidConfig', message });
  expect(it.failures).toEqual([`ns/a: ${message}`]);
  expect(it.ports.all()).toEqual([]);
  it.cluster.foreignNad('ns/none');
  it.flush();
  expect(JSON.parse(await it.call('ADD')).ips).toHaveLength(2);
});

it('ADD keeps why it failed until it succeeds, of that very pod', async () => {
  const it = withPod();
  const pod = { namespace: 'ns', name: 'a', runtimeUid: 'uid-a' };
  await expect(it.call('ADD', { netns: '/run/netns/none' })).rejects.toMatchObject({ reason: 'invalidEnvironment' });
  const failure = { command: 'ADD', cause: 'refused', message: expect.stringContaining('CNI_NETNS'), isWaiting: false };
  expect(it.handler.failures.of(pod)).toMatchObject(failure);
  expect(it.handler.failures.of({ ...pod, runtimeUid: 'another' })).toBeUndefined();
  // A runtime cleans up after an ADD that failed.
  await it.call('DEL');
  expect(it.handler.failures.of(pod)).toMatchObject(failure);
  await it.call('ADD');
  expect(it.handler.failures.of(pod)).toBeUndefined();
});

it('ADD that waits for addresses says so while it waits', async () => {
  const it = setUp();
  it.cluster.pod('ns/a', { node: 'node1', networks: {} });
  it.flush();
  it.shortages.set('ns/a', 'network default: subnet 10.128.0.0/23 has no free address left');
  const answer = it.call('ADD');
  answer.catch(() => undefined);
  await it.clock.advance(3_000);
  const pod = { namespace: 'ns', name: 'a', runtimeUid: 'uid-a' };
  const message = 'pod ns/a has no addresses: network default: subnet 10.128.0.0/23 has no free address left';
  expect(it.handler.failures.of(pod)).toMatchObject({ cause: 'waiting-for-network', isWaiting: true, message });
  it.cluster.pod('ns/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } });
  it.flush();
  await answer;
  expect([...it.handler.failures.entries()]).toEqual([]);
});

it('DEL and CHECK keep why they failed until they succeed', async () => {
  const it = withPod();
  const { unplug } = it.ports;
  await it.call('ADD');
  it.ports.unplug = () => Promise.reject(operationError({ ...IO, details: 'conf.db: write failed' }));
  await expect(it.call('DEL')).rejects.toThrow('commit: I/O error: conf.db: write failed');
  expect([...it.handler.failures.entries()]).toEqual([
    ['ns/a', { ...{ uid: 'uid-a', command: 'DEL', cause: 'ovsdb', isWaiting: false }, message: IO_MESSAGE }],
  ]);
  it.ports.unplug = unplug.bind(it.ports);
  await it.call('DEL');
  expect([...it.handler.failures.entries()]).toEqual([]);
  await expect(it.call('CHECK')).rejects.toThrow('differs from the desired state');
  expect([...it.handler.failures.entries()]).toEqual([['ns/a', expect.objectContaining({ command: 'CHECK' })]]);
});

const IO = { error: 'I/O error', index: undefined, operation: undefined, suspects: [] };
const IO_MESSAGE = 'commit: I/O error: conf.db: write failed';
