import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { type Component, type ComponentHealth, isNetworkDown, reasonsOfHealth, type TimedHealth } from './component.ts';
import type { NodeView } from './node-view.ts';
import { HealthWatch } from './watch.ts';

/** A node whose daemons follow, until one of them stops. */
const createNode = () => {
  const node = {
    asked: 0,
    northd: 0,
    controller: 0,
    stopped: new Set<string>(),
    refuses: new Set<string>(),
    isRegistered: true,
    raises: 0,
  };
  const answer = <T>(from: string, value: () => T, signal: AbortSignal): Promise<T> => {
    if (node.refuses.has(from)) return Promise.reject(new Error(`${from} is closed`));
    if (!node.stopped.has(from)) return Promise.resolve(value());
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  const follow = (): void => {
    if (!node.stopped.has('ovn-northd') && !node.refuses.has('write southbound')) node.northd = node.asked;
    if (!node.stopped.has('ovn-controller')) node.controller = node.northd;
  };
  const view: NodeView = {
    northbound: (raise, signal) =>
      answer(
        'northbound',
        () => {
          follow();
          if (raise) node.asked += 1;
          if (raise) node.raises += 1;
          return { asked: node.asked, northd: node.northd };
        },
        signal,
      ),
    southbound: (signal) =>
      answer(
        'southbound',
        () => ({ asked: node.northd, controller: node.isRegistered ? node.controller : undefined }),
        signal,
      ),
    openvswitch: (signal) =>
      answer(
        'openvswitch',
        () => ({ controller: node.refuses.has('write openvswitch') ? 0 : node.controller }),
        signal,
      ),
    vswitchd: (signal) => answer('vswitchd', () => ({}), signal),
    writeSouthbound: (signal) => answer('write southbound', () => undefined, signal),
    writeOpenvswitch: (signal) => answer('write openvswitch', () => undefined, signal),
  };
  return { node, view };
};

const startWatch = async () => {
  const { node, view } = createNode();
  const clock = createFakeClock();
  const changes: TimedHealth[] = [];
  const others = (): ComponentHealth[] => [{ component: 'uplink', state: 'working', message: '' }];
  const watch = new HealthWatch({ view, clock, others, onChange: (changed) => changes.push(...changed) });
  watch.start();
  await clock.advance(8_000);
  const state = (component: Component) => watch.components().find((one) => one.component === component);
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second += 1) {
      await clock.advance(1_000);
      // What an answer that is late ends by: after what came before it.
      await new Promise(setImmediate);
      await clock.advance(0);
    }
  };
  return { node, watch, changes, state, seconds };
};

it('all work while each follows, and the number is raised once in a while', async () => {
  const { node, watch, state, seconds } = await startWatch();
  await seconds(60);
  expect(['ovn-northd', 'ovn-controller', 'ovs-vswitchd'].map((one) => state(one as Component)?.state)).toEqual(
    Array(3).fill('working'),
  );
  expect(reasonsOfHealth(watch.components())).toEqual([]);
  expect(node.raises).toBeGreaterThan(12);
  expect(node.raises).toBeLessThan(20);
});

it.each(['ovn-northd', 'ovn-controller'] as const)(
  'a stopped %s is found within 15 seconds, and when it runs again',
  async (daemon) => {
    const { node, state, seconds, watch } = await startWatch();
    node.stopped.add(daemon);
    await seconds(15);
    expect(state(daemon)).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('has not processed configuration'),
    });
    expect(watch.components().filter(isNetworkDown)).toHaveLength(1);
    const { message } = state(daemon) ?? {};
    await seconds(30);
    expect(state(daemon)?.message).toBe(message);
    node.stopped.clear();
    await seconds(5);
    expect(state(daemon)?.state).toBe('working');
  },
);

it.each([
  ['vswitchd', 'ovs-vswitchd'],
  ['northbound', 'northbound-db'],
  ['southbound', 'southbound-db'],
  ['openvswitch', 'openvswitch-db'],
] as const)(
  '%s that does not answer is found within 15 seconds, and one answer that is late is none',
  async (who, what) => {
    const { node, state, seconds } = await startWatch();
    node.stopped.add(who);
    await seconds(5);
    node.stopped.clear();
    await seconds(5);
    expect(state(what)?.state).toBe('working');
    node.stopped.add(who);
    await seconds(15);
    expect(state(what)).toMatchObject({ state: 'failed', message: expect.stringContaining('no answer within 4 s') });
  },
);

it('what another one is asked by is not known when that one has failed', async () => {
  const { node, state, seconds } = await startWatch();
  node.refuses.add('southbound');
  await seconds(15);
  expect([state('southbound-db'), state('ovn-northd'), state('ovn-controller')]).toMatchObject([
    { state: 'failed', message: expect.stringContaining('southbound is closed') },
    { state: 'unknown', message: 'the southbound database does not answer' },
    { state: 'unknown', message: 'the southbound database does not answer' },
  ]);
});

it('a database that rejects writes is told from a daemon that has stopped', async () => {
  const { node, state, seconds } = await startWatch();
  node.refuses.add('write southbound');
  await seconds(20);
  expect([state('southbound-db'), state('ovn-northd')]).toMatchObject([
    { state: 'failed', message: expect.stringContaining('rejects writes: write southbound is closed') },
    { state: 'unknown' },
  ]);
  node.refuses.clear();
  await seconds(5);
  expect(state('ovn-northd')?.state).toBe('working');
  node.refuses.add('write openvswitch');
  await seconds(20);
  expect(state('openvswitch-db')).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('rejects writes'),
  });
});

it('a node without a row of ovn-controller says so', async () => {
  const { node, state, seconds } = await startWatch();
  node.isRegistered = false;
  await seconds(5);
  expect(state('ovn-controller')).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('not registered'),
  });
});

it('nothing is said to work before it was asked', () => {
  const { view } = createNode();
  const watch = new HealthWatch({ view, clock: createFakeClock(), others: () => [], onChange: () => undefined });
  expect(watch.components().every(({ state }) => state === 'unknown')).toBe(true);
  expect(reasonsOfHealth(watch.components())).toHaveLength(7);
});

it('a daemon that has stopped does not work again because its database was slow once', async () => {
  const { node, changes, state, seconds } = await startWatch();
  node.stopped.add('ovn-northd');
  await seconds(15);
  expect(state('ovn-northd')?.state).toBe('failed');
  const before = changes.length;
  node.stopped.add('northbound');
  await seconds(5);
  node.stopped.delete('northbound');
  await seconds(5);
  expect(changes.slice(before)).toEqual([]);
});
