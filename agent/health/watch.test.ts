import { expect, it } from 'vitest';
import { type Clock, delay } from '../../base/clock.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { type Component, type ComponentHealth, isNetworkDown, reasonsOfHealth, type TimedHealth } from './component.ts';
import type { NodeView } from './node-view.ts';
import { HealthWatch } from './watch.ts';

/** A node whose daemons follow, until one of them stops. */
const createNode = (clock: Clock) => {
  const node = {
    /** How long each database takes to answer. */
    answerMs: 0,
    asked: 0,
    northd: 0,
    controller: 0,
    stopped: new Set<string>(),
    refuses: new Set<string>(),
    isRegistered: true,
    chassis: 'c1' as string | undefined,
    /** By which name ovn-controller has registered the node. */
    registeredAs: 'c1',
    raises: 0,
  };
  const answer = <T>(from: string, value: () => T, signal: AbortSignal): Promise<T> => {
    if (node.refuses.has(from)) return Promise.reject(new Error(`${from} is closed`));
    if (!node.stopped.has(from))
      return node.answerMs === 0 ? Promise.resolve(value()) : delay(clock, node.answerMs).then(value);
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
        () => ({
          ...{ asked: node.northd, chassis: node.chassis },
          otherName: node.isRegistered && node.chassis !== node.registeredAs ? node.registeredAs : undefined,
          controller: node.isRegistered && node.chassis === node.registeredAs ? node.controller : undefined,
        }),
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
  const clock = createFakeClock();
  const { node, view } = createNode(clock);
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
  return { node, watch, changes, state, seconds, clock };
};

it('what is in effect is known a few looks later, and no longer when somebody stops', async () => {
  const { node, watch, seconds, clock } = await startWatch();
  await seconds(30);
  const behind = clock.monotonic() - (watch.inEffectUntil() ?? 0);
  expect(behind).toBeGreaterThan(0);
  expect(behind).toBeLessThan(7_000);
  const stoppedAt = clock.monotonic();
  node.stopped.add('ovn-controller');
  await seconds(60);
  expect(watch.inEffectUntil()).toBeLessThanOrEqual(stoppedAt);
  node.stopped.clear();
  await seconds(10);
  expect(watch.inEffectUntil()).toBeGreaterThan(stoppedAt + 60_000);
});

it('all work while each follows, and the number is raised once in a while', async () => {
  const { node, watch, state, seconds } = await startWatch();
  await seconds(60);
  expect(['ovn-northd', 'ovn-controller', 'ovs-vswitchd'].map((one) => state(one as Component)?.state)).toEqual(
    Array(3).fill('working'),
  );
  expect(reasonsOfHealth(watch.components())).toEqual([]);
  expect(node.raises).toBeGreaterThan(18);
  expect(node.raises).toBeLessThan(26);
});

it.each(['ovn-northd', 'ovn-controller'] as const)(
  'a stopped %s is found within 12 seconds, whenever it stops, and when it runs again',
  async (daemon) => {
    for (const offset of [0, 500, 1_000, 1_500, 2_000, 2_500]) {
      const { node, state, seconds, clock } = await startWatch();
      await clock.advance(offset);
      node.stopped.add(daemon);
      await seconds(12);
      expect(state(daemon)?.state, `stopped after ${offset} ms`).toBe('failed');
    }
    const { node, state, seconds, watch } = await startWatch();
    node.stopped.add(daemon);
    await seconds(12);
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
  '%s that does not answer is found within 12 seconds, and one answer that is late is none',
  async (who, what) => {
    const { node, state, seconds } = await startWatch();
    node.stopped.add(who);
    await seconds(5);
    node.stopped.clear();
    await seconds(5);
    expect(state(what)?.state).toBe('working');
    node.stopped.add(who);
    await seconds(12);
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

it('ovn-controller has a moment to register a node by another name, and then follows as before', async () => {
  const { node, changes, state, seconds } = await startWatch();
  node.chassis = 'c2';
  await seconds(3);
  expect(state('ovn-controller')).toMatchObject({ state: 'unknown' });
  node.registeredAs = 'c2';
  await seconds(3);
  expect(state('ovn-controller')).toMatchObject({ state: 'working' });
  expect(changes.filter((one) => one.state === 'failed')).toEqual([]);
  node.chassis = 'c3';
  await seconds(8);
  expect(state('ovn-controller')).toMatchObject({
    ...{ state: 'failed', message: expect.stringMatching(/system-id of Open vSwitch was changed.* as chassis c2: /) },
  });
});

it('a name of the chassis that is missing is no failure of ovn-controller to register', async () => {
  const { node, state, seconds } = await startWatch();
  node.chassis = undefined;
  await seconds(3);
  const { message } = state('ovn-controller') ?? {};
  expect(message).toMatch(/^external_ids:system-id is missing in the Open_vSwitch database.*; set it to c1$/);
  node.chassis = 'c1';
  await seconds(3);
  expect(state('ovn-controller')?.state).toBe('working');
});

it('ovn-controller has a moment to register a node that is new', async () => {
  const clock = createFakeClock();
  const { node, view } = createNode(clock);
  const watch = new HealthWatch({ view, clock, others: () => [], onChange: () => undefined });
  const state = () => watch.components().find(({ component }) => component === 'ovn-controller')?.state;
  node.isRegistered = false;
  watch.start();
  await clock.advance(4_000);
  expect(state()).toBe('unknown');
  node.isRegistered = true;
  await clock.advance(2_000);
  expect(state()).toBe('working');
  node.isRegistered = false;
  await clock.advance(2_000);
  expect(state()).toBe('failed');
  watch.stop();
});

it('it has failed when it takes longer', async () => {
  const clock = createFakeClock();
  const { node, view } = createNode(clock);
  const watch = new HealthWatch({ view, clock, others: () => [], onChange: () => undefined });
  node.isRegistered = false;
  watch.start();
  await clock.advance(8_000);
  expect(watch.components()).toContainEqual(
    expect.objectContaining({
      component: 'ovn-controller',
      state: 'failed',
      message: expect.stringContaining('not registered'),
    }),
  );
  watch.stop();
});

it('nothing is said to work before it was asked', () => {
  const clock = createFakeClock();
  const { view } = createNode(clock);
  const watch = new HealthWatch({ view, clock, others: () => [], onChange: () => undefined });
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

it('a daemon that is late on a machine that is slow for all has not stopped', async () => {
  const { node, changes, seconds, state } = await startWatch();
  node.answerMs = 3_000;
  await seconds(20);
  const before = changes.length;
  node.stopped.add('ovn-northd');
  await seconds(12);
  node.stopped.clear();
  await seconds(20);
  expect(changes.slice(before)).toEqual([]);
  node.stopped.add('ovn-northd');
  await seconds(30);
  expect(state('ovn-northd')?.state).toBe('failed');
});
