import { expect, it } from 'vitest';
import { CniError } from '../../api/cni/error.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { type LostInterfaces, type LostPortsOptions, watchLostPorts } from './lost-ports.ts';
import { formatAlias } from './plumbing.ts';

const linkOf = (containerId: string, podUid: string, index = 1, interfaceName = 'eth0') => ({
  index,
  name: `${containerId}_${interfaceName}`,
  alias: formatAlias({ containerId, interfaceName, podUid }),
});

const SOON = 500;

const setUp = async (state = {}, overrides: Partial<Record<keyof LostPortsOptions, unknown>> = {}) => {
  const clock = createFakeClock();
  const port = { podUid: 'u1', interfaceName: 'eth0', logicalPort: 'red_a' };
  const node = { ports: [port], isReady: true, busy: '', links: [linkOf('c1', 'u1')], reads: 0, refusal: '' };
  Object.assign(node, state);
  const ending = new AbortController();
  const reported: string[] = [];
  const replugged: string[] = [];
  let gone = (_: readonly string[]): void => undefined;
  const options: Record<keyof LostPortsOptions, unknown> = {
    netlink: {
      read: () => {
        node.reads += 1;
        return Promise.resolve({ links: node.links });
      },
    },
    ports: { all: () => node.ports, isReady: () => node.isReady },
    pods: () => [{ pod: { namespace: 'red', name: 'a', uid: 'u1' } }],
    isBusy: (sandbox: string) => sandbox === node.busy,
    onPortsGone: (listener: typeof gone) => {
      gone = listener;
      return () => undefined;
    },
    clock,
    replug: ({ links }: LostInterfaces) => {
      if (node.refusal === 'gone') return Promise.reject(new CniError('podGone', 'a DEL came'));
      if (node.refusal !== '') return Promise.reject(new Error(node.refusal));
      node.ports = [port];
      replugged.push(links.map(({ name }) => name).join(' '));
      return Promise.resolve();
    },
    onReplugged: (pods: readonly LostInterfaces[]) => reported.push(`again: ${pods.map(({ pod }) => pod.name)}`),
    report: ({ name }: { name: string }, message: string) => reported.push(`${name}: ${message}`),
    onError: (error: unknown) => reported.push(String(error)),
    signal: ending.signal,
  };
  const lost = watchLostPorts({ ...options, ...overrides } as LostPortsOptions);
  await clock.advance(SOON);
  const after = (milliseconds: number) => clock.advance(milliseconds);
  return { node, port, lost, after, reported, replugged, ending, gone: (...sandboxes: string[]) => gone(sandboxes) };
};

it('a pod whose port was taken away gets it again when it was seen without it twice', async () => {
  const { node, after, reported, replugged, gone, lost } = await setUp();
  node.ports = [];
  gone('c1');
  await after(SOON);
  expect(replugged).toEqual([]);
  await after(SOON);
  expect(replugged).toEqual(['c1_eth0']);
  expect([reported, lost.problems()]).toEqual([['again: a'], []]);
});

it('one that lost it while the agent was away gets it, too', async () => {
  const { replugged, after } = await setUp({ ports: [] });
  await after(SOON);
  expect(replugged).toEqual(['c1_eth0']);
});

it('one whose logical port was removed gets it again', async () => {
  const { node, port, after, replugged, gone } = await setUp();
  node.ports = [{ ...port, logicalPort: '' }];
  gone('c1');
  await after(2 * SOON);
  expect([replugged, node.ports]).toEqual([['c1_eth0'], [port]]);
});

it('a port that cannot be added again is reported once for each reason, until it is there', async () => {
  const { node, port, lost, after, reported, gone } = await setUp();
  Object.assign(node, { ports: [], refusal: 'no bridge' });
  gone('c1');
  await after(60_000);
  const message =
    'its ports in Open vSwitch were removed, and it has no network any more on eth0: they could not be added again: no bridge';
  expect(lost.problems()).toEqual([{ object: 'Pod/red/a', message, cause: 'port-removed' }]);
  expect(reported).toEqual([`a: ${message}`]);
  node.ports = [port];
  await after(10_000);
  expect(lost.problems()).toEqual([]);
});

it('one whose agent ends meanwhile is not reported', async () => {
  const { node, after, reported, gone, ending } = await setUp();
  Object.assign(node, { ports: [], refusal: 'aborted' });
  ending.abort();
  gone('c1');
  await after(2 * SOON);
  expect(reported).toEqual([]);
});

it('one that the runtime deletes meanwhile is neither reported nor plugged', async () => {
  const { node, lost, after, reported, gone } = await setUp();
  Object.assign(node, { ports: [], refusal: 'gone' });
  gone('c1');
  await after(60_000);
  expect([reported, lost.problems()]).toEqual([[], []]);
});

it('all interfaces of the latest sandbox, and none of an earlier one', async () => {
  const { node, after, replugged, gone } = await setUp();
  Object.assign(node, {
    ports: [],
    links: [linkOf('c2', 'u1', 8), linkOf('c2', 'u1', 9, 'net1'), linkOf('c1', 'u1', 3)],
  });
  gone('c2');
  await after(2 * SOON);
  expect(replugged).toEqual(['c2_eth0 c2_net1']);
});

it('reads links only when ports have gone that no call is about, and while a pod lacks one', async () => {
  const { node, after, gone } = await setUp();
  node.busy = 'c0';
  gone('c0');
  await after(60_000);
  expect(node.reads).toBe(1);
  Object.assign(node, { ports: [], refusal: 'no bridge' });
  gone('c1');
  gone('c1', 'c0');
  await after(2 * SOON + 20_000);
  expect(node.reads).toBe(5);
});

it('one that takes long to be plugged again does not hold up another, and is not plugged twice meanwhile', async () => {
  const stuck = Promise.withResolvers<void>();
  const tried: string[] = [];
  const pods = ['u1', 'u2'].map((uid) => ({ pod: { namespace: 'red', name: `pod-${uid}`, uid } }));
  const { node, port, lost, after, reported, gone } = await setUp(
    { ports: ['u1', 'u2'].map((podUid) => ({ podUid, interfaceName: 'eth0', logicalPort: 'red_a' })) },
    {
      pods: () => pods,
      replug: ({ pod, sandbox }: LostInterfaces) => {
        tried.push(sandbox);
        if (pod.uid === 'u1') return stuck.promise;
        node.ports.push({ ...port, podUid: 'u2' });
        return Promise.resolve();
      },
    },
  );
  Object.assign(node, { ports: [{ ...port, podUid: 'u2' }], links: [linkOf('c1', 'u1'), linkOf('c2', 'u2', 2)] });
  gone('c1');
  await after(2 * SOON);
  expect(tried).toEqual(['c1']);
  node.ports = [];
  gone('c2');
  await after(2 * SOON);
  expect([tried, reported]).toEqual([['c1', 'c2'], ['again: pod-u2']]);
  await after(30_000);
  expect(tried).toEqual(['c1', 'c2']);
  stuck.reject(new Error('no host isolation'));
  await after(0);
  expect(lost.problems()).toMatchObject([{ object: 'Pod/red/pod-u1' }]);
  await after(10_000);
  expect(tried).toEqual(['c1', 'c2', 'c1']);
});

it('ports that go during a look are looked at after it', async () => {
  const { node, after, replugged, gone } = await setUp();
  node.ports = [];
  gone('c1');
  const looking = after(SOON);
  gone('c1');
  await looking;
  await after(SOON);
  expect(replugged).toEqual(['c1_eth0']);
});

it.each([
  ['the database is away', { isReady: false }],
  ['a call is under way', { busy: 'c1' }],
  ['its link has gone with its sandbox', { links: [] }],
  ['the link is no pod’s that is known', { links: [linkOf('c0', 'gone')] }],
])('not while %s', async (_, state) => {
  const { node, lost, after, reported, replugged, gone } = await setUp();
  Object.assign(node, { ports: [] }, state);
  gone('c1', 'c2');
  await after(50_000);
  expect([lost.problems(), reported, replugged]).toEqual([[], [], []]);
});
