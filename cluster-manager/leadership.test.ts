import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createFakeClock } from '../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../kube/embedded/cluster.ts';
import { KubeError } from '../kube/errors.ts';
import { claimedLease } from '../kube/lease/lease-record.ts';
import { LEASES } from '../kube/resources.ts';
import type { KubeClient } from '../kube/types.ts';
import { whenLeading } from './leadership.ts';

const ref = { namespace: 'kube-system', name: 'udn-cluster-manager' };
const HELD = {
  code: 'ERR_LEASE_HELD',
  message: expect.stringMatching(/^other holds the Lease kube-system\/udn-cluster/),
};

/** A cluster manager without leader election. */
const alone = () => {
  const clock = createFakeClock();
  const client = createEmbeddedCluster({ clock }).client();
  const stop = new AbortController();
  const state = { isAway: false, isWorking: false, mayWrite: () => false };
  const guarded: KubeClient = {
    ...client,
    get: (...parameters) =>
      state.isAway ? Promise.reject(new KubeError('ERR_KUBE_NETWORK', 'unreachable')) : client.get(...parameters),
  };
  const work = (signal: AbortSignal, isHeld: () => boolean): Promise<void> => {
    Object.assign(state, { isWorking: true, mayWrite: isHeld });
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        state.isWorking = false;
        resolve();
      });
    });
  };
  const options = { client: guarded, lease: { ...ref, seconds: 15 }, electsLeader: false, clock };
  const ended = whenLeading({ ...options, log: pino({ level: 'silent' }) }, work, stop.signal).then(
    () => 'stopped',
    (error: unknown) => error,
  );
  /** @param ahead of our clock, in milliseconds */
  const claim = async (ahead = 0): Promise<void> => {
    const current = await client.get(LEASES, ref).catch(() => undefined);
    const lease = claimedLease({ ...ref, identity: 'other', leaseMs: 15_000, now: clock.wall() + ahead }, current);
    await (current === undefined ? client.create(LEASES, lease) : client.update(LEASES, lease));
  };
  return { state, clock, client, stop, ended, claim };
};

it('works while the Lease does not exist, until it is stopped', async () => {
  const { state, clock, stop, ended } = alone();
  await clock.advance(60_000);
  expect([state.isWorking, state.mayWrite()]).toEqual([true, true]);
  stop.abort();
  expect([await ended, clock.pending]).toEqual(['stopped', 0]);
});

it('does not start while another instance holds the Lease', async () => {
  const { state, clock, ended, claim } = alone();
  state.isAway = true;
  await claim();
  state.isAway = false;
  await clock.advance(2_000);
  expect(await ended).toMatchObject(HELD);
  expect(state.isWorking).toBe(false);
});

it('ends, and writes nothing more, when an instance comes that holds the Lease', async () => {
  const { state, clock, ended, claim } = alone();
  await clock.advance(10_000);
  await claim();
  await clock.advance(500);
  expect([state.isWorking, state.mayWrite()]).toEqual([false, false]);
  expect(await ended).toMatchObject(HELD);
});

it('goes on beside a Lease that has expired, and ends when it is renewed by a clock that is late', async () => {
  const { state, clock, ended, claim } = alone();
  await claim(-3_600_000);
  await clock.advance(30_000);
  expect(state.isWorking).toBe(true);
  await claim(-3_600_000);
  await clock.advance(2_000);
  expect(await ended).toMatchObject(HELD);
});

it('writes nothing while it cannot read the Lease, and goes on after that', async () => {
  const { state, clock, stop } = alone();
  await clock.advance(4_000);
  state.isAway = true;
  await clock.advance(6_000);
  expect(state.mayWrite()).toBe(true);
  await clock.advance(6_000);
  expect([state.isWorking, state.mayWrite()]).toEqual([true, false]);
  state.isAway = false;
  await clock.advance(2_000);
  expect(state.mayWrite()).toBe(true);
  stop.abort();
});
