/** One cluster manager works at a time: the one that holds a Lease. The others wait. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type Clock, delay, systemClock } from '../base/clock.ts';
import { isNotFound } from '../kube/errors.ts';
import { runLeaderElection } from '../kube/lease/leader-election.ts';
import { type LeaseRecord, readLease } from '../kube/lease/lease-record.ts';
import type { LeaderElectionObservation } from '../kube/lease/types.ts';
import { LEASES } from '../kube/resources.ts';
import type { KubeClient, KubeObject } from '../kube/types.ts';
import type { LeaseOptions } from './options.ts';

export interface LeadershipOptions {
  readonly client: KubeClient;
  readonly lease: LeaseOptions;
  /** False: it does not hold the Lease, and works only while no other instance does. Default: true. */
  readonly electsLeader?: boolean;
  readonly log: Logger;
  /** The API server has answered about the Lease. */
  readonly onReached?: () => void;
  readonly clock?: Clock;
}

/**
 * Does the work once we lead, until `signal` aborts.
 * @throws when leadership is lost: others may have given out what we hold in memory, so the process has to restart; and when
 *   it works without the Lease, and another instance holds it, or comes to hold it later
 */
export const whenLeading = async (
  options: LeadershipOptions,
  work: (signal: AbortSignal, isHeld: () => boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { client, lease, log, electsLeader = true, onReached = () => {} } = options;
  if (!electsLeader) {
    return workWithoutLease(options, work, signal);
  }
  const identity = `${hostname()}_${randomUUID()}`;
  const observe = (observation: LeaderElectionObservation): void => {
    if (observation.kind === 'leading' || observation.kind === 'leader') onReached();
    logLeadership(log, observation);
  };
  const lead = async (leading: AbortSignal, isHeld: () => boolean): Promise<void> => {
    await work(leading, isHeld);
    if (!signal.aborted) throw new Error('leadership is lost');
  };
  await runLeaderElection({ client, ...lease, ...timesOf(lease), identity, lead, observe }, signal);
};

/**
 * The Lease is read before the work and during it. A holder works as soon as it has listed what there is, so between two reads both
 * may write: elections are what excludes that. In that half second no network gets an id that another one has, though a new one may
 * change its own (controllers/two-managers.test.ts); addresses and subnets that both allocate stay with the older object, and the
 * other is reported (ADR 14).
 */
const workWithoutLease = async (
  { client, lease, log, onReached = () => {}, clock = systemClock }: LeadershipOptions,
  work: (signal: AbortSignal, isHeld: () => boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const stop = new AbortController();
  const working = AbortSignal.any([signal, stop.signal]);
  const free = Promise.withResolvers<void>();
  const { renewDeadlineMs } = timesOf(lease);
  let confirmedAt = Number.NEGATIVE_INFINITY;
  const onFree = (): void => {
    confirmedAt = clock.monotonic();
    onReached();
    free.resolve();
  };
  const observe = (observation: LeaderElectionObservation): void => logLeadership(log, observation);
  const watching = untilHeld({ client, lease, clock, onFree, observe }, working).then((holder) => {
    if (holder === undefined) return;
    onReached();
    const error = new HeldLeaseError(holder, lease);
    observe({ kind: 'lost', reason: error.message });
    stop.abort(error);
    throw error;
  });
  try {
    await Promise.race([free.promise, watching]);
    if (!working.aborted)
      await work(working, () => !working.aborted && clock.monotonic() - confirmedAt < renewDeadlineMs);
  } finally {
    stop.abort();
    // Its error explains every other one.
    await watching;
  }
};

interface WatchOptions {
  readonly client: KubeClient;
  readonly lease: LeaseOptions;
  readonly clock: Clock;
  readonly onFree: () => void;
  readonly observe: (observation: LeaderElectionObservation) => void;
}

/** By `get` as candidates do, for which the rights suffice. @returns the holder; undefined when the signal has aborted */
const untilHeld = async (
  { client, lease, clock, onFree, observe }: WatchOptions,
  signal: AbortSignal,
): Promise<string | undefined> => {
  let seen: string | undefined;
  while (!signal.aborted) {
    let pause = WATCH_MS;
    try {
      const found = await readIfThere(client, lease, signal);
      const record = found === undefined ? undefined : readLease(found);
      // Clocks need not agree: a Lease that is renewed is held, whatever time it has.
      const isRenewed = seen !== undefined && record?.renewTime !== undefined && record.renewTime !== seen;
      seen = record?.renewTime ?? seen;
      const holder = record === undefined ? undefined : holderOf(record, clock.wall(), isRenewed);
      if (holder !== undefined) return holder;
      onFree();
    } catch (error) {
      if (!signal.aborted) observe({ kind: 'failed', error });
      pause = timesOf(lease).retryMs;
    }
    await delay(clock, pause, signal).catch(() => {});
  }
  return undefined;
};

/** One small object: candidates, of which there are more, read it every two seconds. */
const WATCH_MS = 500;

class HeldLeaseError extends Error {
  override readonly name = 'HeldLeaseError';
  readonly code = 'ERR_LEASE_HELD';

  constructor(holder: string, { namespace, name }: LeaseOptions) {
    super(
      `${holder} holds the Lease ${namespace}/${name}: two active cluster managers would allocate one id twice. Stop that one, or remove --leader-elect=false`,
    );
  }
}

const readIfThere = async (
  client: KubeClient,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<KubeObject | undefined> => {
  try {
    return await client.get(LEASES, ref, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** Undefined: no instance, or one whose Lease has expired. */
const holderOf = (
  { holder, durationMs, renewTime }: LeaseRecord,
  now: number,
  isRenewed: boolean,
): string | undefined => {
  // Without a time it counts as held: whoever wrote it knows better.
  const isOver = !isRenewed && renewTime !== undefined && Date.parse(renewTime) + durationMs < now;
  return holder === '' || isOver ? undefined : holder;
};

/** Kubernetes' own components have 15, 10 and 2 s. */
const timesOf = ({ seconds }: LeaseOptions) => ({
  leaseMs: seconds * 1000,
  renewDeadlineMs: (seconds * 1000 * 10) / 15,
  retryMs: (seconds * 1000 * 2) / 15,
});

const logLeadership = (log: Logger, observation: LeaderElectionObservation): void => {
  const child = log.child({ module: 'lease' });
  if (observation.kind === 'leading') child.info('leading');
  else if (observation.kind === 'leader') child.info({ leader: observation.identity }, 'leader seen');
  else if (observation.kind === 'lost') child.error({ reason: observation.reason }, 'leadership lost');
  else child.warn({ err: observation.error }, 'lease not reachable');
};
