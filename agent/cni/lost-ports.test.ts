import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { type LostPortsOptions, watchLostPorts } from './lost-ports.ts';
import { formatAlias } from './plumbing.ts';

const linkOf = (containerId: string, podUid: string) => ({
  alias: formatAlias({ containerId, interfaceName: 'eth0', podUid }),
});

const setUp = async () => {
  const clock = createFakeClock();
  const port = { podUid: 'u1', interfaceName: 'eth0' };
  const node = { ports: [port], isReady: true, busy: '', links: [linkOf('c1', 'u1')], reads: 0 };
  const reported: string[] = [];
  let gone = (): void => undefined;
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
    onPortsGone: (listener: () => void) => {
      gone = listener;
      return () => undefined;
    },
    clock,
    report: ({ name }: { name: string }, message: string) => reported.push(`${name}: ${message}`),
    onError: (error: unknown) => reported.push(String(error)),
  };
  const lost = watchLostPorts(options as LostPortsOptions);
  const looks = (count: number) => clock.advance(count * 10_000);
  await looks(1);
  return { node, port, lost, looks, reported, gone: () => gone() };
};

it('a pod whose port was taken away is reported once, until it has one again', async () => {
  const { node, port, lost, looks, reported, gone } = await setUp();
  node.ports = [];
  gone();
  await looks(1);
  expect(lost.problems()).toEqual([]);
  await looks(3);
  const message = 'its ports in Open vSwitch were removed, and it has no network any more on eth0: recreate the pod';
  expect(lost.problems()).toEqual([{ object: 'Pod/red/a', message, cause: 'port-removed' }]);
  expect(reported).toEqual([`a: ${message}`]);
  node.ports = [port];
  await looks(1);
  expect(lost.problems()).toEqual([]);
});

it('reads links only when ports have gone, and while a pod lacks one', async () => {
  const { node, port, looks, gone } = await setUp();
  await looks(10);
  expect(node.reads).toBe(1);
  node.ports = [];
  gone();
  gone();
  await looks(5);
  expect(node.reads).toBe(6);
  node.ports = [port];
  await looks(10);
  expect(node.reads).toBe(7);
});

it.each([
  ['the database is away', { isReady: false }],
  ['a call is under way', { busy: 'c1' }],
  ['its link has gone with its sandbox', { links: [] }],
  ['the link is no pod’s that is known', { links: [linkOf('c0', 'gone')] }],
])('not while %s', async (_, state) => {
  const { node, lost, looks, reported, gone } = await setUp();
  Object.assign(node, { ports: [] }, state);
  gone();
  await looks(5);
  expect([lost.problems(), reported]).toEqual([[], []]);
});
