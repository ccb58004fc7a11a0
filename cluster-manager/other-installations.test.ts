import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../kube/embedded/cluster.ts';
import { KubeError } from '../kube/errors.ts';
import { claimedLease, releasedLease } from '../kube/lease/lease-record.ts';
import { LEASES, NAMESPACES } from '../kube/resources.ts';
import type { KubeClient } from '../kube/types.ts';
import { whileSole } from './other-installations.ts';

const NAME = 'udn-cluster-manager';
const lease = { namespace: 'ours', name: NAME };

const claim = async (client: KubeClient, clock: FakeClock, namespace: string): Promise<void> => {
  const current = await client.get(LEASES, { namespace, name: NAME }).catch(() => undefined);
  const claimed = { namespace, name: NAME, identity: `manager of ${namespace}`, leaseMs: 15_000, now: clock.wall() };
  const written = claimedLease(claimed, current);
  if (current === undefined) await client.create(NAMESPACES, { metadata: { name: namespace } });
  await (current === undefined ? client.create(LEASES, written) : client.update(LEASES, written));
};

/** An instance that holds the Lease of its namespace. */
const instance = () => {
  const clock = createFakeClock();
  const client = createEmbeddedCluster({ clock }).client();
  const stop = new AbortController();
  const state = { isWorking: false, reasons: [] as (string | undefined)[] };
  const work = (signal: AbortSignal): Promise<void> => {
    state.isWorking = true;
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        state.isWorking = false;
        resolve();
      }),
    );
  };
  const onWaiting = (reason: string | undefined): void => void state.reasons.push(reason);
  const start = () =>
    whileSole({ client, lease, clock, log: pino({ level: 'silent' }), onWaiting }, work, stop.signal).then(
      () => 'stopped',
      (error: unknown) => error,
    );
  return { clock, client, stop, state, start };
};

const REASON =
  'another installation works in this cluster: manager of theirs holds the Lease theirs/udn-cluster-manager. Uninstall one of them: both would allocate subnets and addresses';

it('works alone, and beside one that came later', async () => {
  const { clock, client, stop, state, start } = instance();
  await claim(client, clock, 'ours');
  const ended = start();
  await clock.advance(5_000);
  await claim(client, clock, 'theirs');
  await clock.advance(30_000);
  expect(state).toEqual({ isWorking: true, reasons: [] });
  stop.abort();
  expect([await ended, clock.pending]).toEqual(['stopped', 0]);
});

it('waits while an older one renews its Lease, and works when that is gone', async () => {
  const { clock, client, state, start } = instance();
  await claim(client, clock, 'theirs');
  await clock.advance(1_000);
  await claim(client, clock, 'ours');
  void start();
  for (let seconds = 0; seconds < 40; seconds += 10) {
    await clock.advance(10_000);
    await claim(client, clock, 'theirs');
  }
  expect(state).toEqual({ isWorking: false, reasons: [REASON] });
  const current = await client.get(LEASES, { namespace: 'theirs', name: NAME });
  await client.update(LEASES, releasedLease(current, clock.wall()));
  await clock.advance(2_000);
  expect(state).toEqual({ isWorking: true, reasons: [REASON, undefined] });
});

it('a Lease that has run out holds up nothing, one that is renewed by a clock that is late does', async () => {
  const { clock, client, state, start } = instance();
  await claim(client, clock, 'theirs');
  await clock.advance(3_600_000);
  await claim(client, clock, 'ours');
  void start();
  await clock.advance(0);
  expect(state.isWorking).toBe(false);
  await clock.advance(2_000);
  expect(state.isWorking).toBe(true);

  const second = instance();
  const late = createFakeClock(Date.UTC(2025, 0, 1));
  await claim(second.client, late, 'theirs');
  await claim(second.client, second.clock, 'ours');
  void second.start();
  await second.clock.advance(0);
  await late.advance(2_000);
  await claim(second.client, late, 'theirs');
  await second.clock.advance(2_000);
  expect(second.state).toEqual({ isWorking: false, reasons: [REASON] });
});

it('ends when one turns out to be older', async () => {
  const { clock, client, state, start } = instance();
  await claim(client, clock, 'ours');
  const ended = start();
  await clock.advance(1_000);
  const late = createFakeClock(Date.UTC(2025, 0, 1));
  await claim(client, late, 'theirs');
  await clock.advance(10_000);
  await late.advance(2_000);
  await claim(client, late, 'theirs');
  await clock.advance(10_000);
  expect(await ended).toMatchObject({ message: REASON });
  expect(state.isWorking).toBe(false);
});

it('works where its role does not let it list Leases', async () => {
  const { clock, client, state } = instance();
  const stop = new AbortController();
  const forbidden = new KubeError('ERR_KUBE_STATUS', 'forbidden', { status: 403 });
  const ended = whileSole(
    {
      client: { ...client, list: () => Promise.reject(forbidden) },
      lease,
      clock,
      log: pino({ level: 'silent' }),
      onWaiting: () => undefined,
    },
    (signal) => {
      state.isWorking = true;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    stop.signal,
  );
  await clock.advance(0);
  expect(state.isWorking).toBe(true);
  stop.abort();
  await ended;
});
