/**
 * Leader election over a Lease, with client-go's rules: every write is guarded by the version that was read, and our own
 * clock decides whether another's lease has run out since we saw it change, so that clocks need not agree.
 */
import { onAbort } from '../../base/abort.ts';
import { type Clock, delay, systemClock } from '../../base/clock.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../errors.ts';
import { LEASES } from '../resources.ts';
import type { KubeObject } from '../types.ts';
import { claimedLease, readLease, releasedLease } from './lease-record.ts';
import type { LeaderElectionOptions } from './types.ts';

/**
 * Waits for leadership, leads, and waits again when it is lost, until `signal` aborts. Then `lead` is aborted and awaited,
 * and the lease released. Rejects with what `lead` rejects with.
 */
export const runLeaderElection = async (options: LeaderElectionOptions, signal: AbortSignal): Promise<void> => {
  const candidate = createCandidate(options);
  while (!signal.aborted) {
    if (await candidate.acquire(signal)) await leadUntilLost(options, candidate, signal);
  }
};

const leadUntilLost = async (
  options: LeaderElectionOptions,
  candidate: Candidate,
  signal: AbortSignal,
): Promise<void> => {
  const { observe = () => {}, lead } = options;
  const leading = new AbortController();
  const stopListening = onAbort(signal, () => leading.abort(signal.reason));
  observe({ kind: 'leading' });
  const renewing = candidate.renewUntilLost(leading.signal).then((reason) => {
    if (reason === undefined) return;
    observe({ kind: 'lost', reason });
    leading.abort(new Error(`leadership is lost: ${reason}`));
  });
  try {
    await lead(leading.signal, () => !leading.signal.aborted && candidate.isHeld());
  } finally {
    leading.abort();
    await renewing;
    stopListening();
    await candidate.release();
  }
};

interface Candidate {
  /** Resolves true when we lead, false when the signal aborted. */
  acquire(signal: AbortSignal): Promise<boolean>;
  /** Resolves with the reason why leadership is lost; undefined when the signal aborted. */
  renewUntilLost(signal: AbortSignal): Promise<string | undefined>;
  /** Nobody else can lead yet: it was renewed within the deadline. */
  isHeld(): boolean;
  /** Best effort, when the lease is ours. */
  release(): Promise<void>;
}

interface Memory {
  /** The Lease as it was seen last. */
  lease: KubeObject | undefined;
  /** When it was seen to change, by our monotonic clock. */
  changedAt: number;
  renewedAt: number;
  /** The same by the wall clock. */
  renewedAtWall: number;
  leader: string | undefined;
}

const createCandidate = (options: LeaderElectionOptions): Candidate => {
  const { clock = systemClock, random = Math.random, retryMs = 2000, renewDeadlineMs = 10_000 } = options;
  const memory: Memory = { lease: undefined, changedAt: 0, renewedAt: 0, renewedAtWall: 0, leader: undefined };
  const pause = (signal: AbortSignal): Promise<void> =>
    // Candidates that started together must not stay in step.
    delay(clock, retryMs * (1 + 0.2 * random()), signal).catch(() => {});
  // The monotonic clock stands still while the machine sleeps (clock_gettime(2), CLOCK_MONOTONIC).
  const isHeld = (): boolean =>
    clock.monotonic() - memory.renewedAt < renewDeadlineMs && clock.wall() - memory.renewedAtWall < renewDeadlineMs;
  return {
    acquire: async (signal) => {
      while (!signal.aborted) {
        if (await tryToHold(options, clock, memory, isFree(options, clock, memory), signal)) return true;
        await pause(signal);
      }
      return false;
    },
    renewUntilLost: async (signal) => {
      const isOurs = (lease: KubeObject | undefined): boolean =>
        lease !== undefined && readLease(lease).holder === options.identity;
      const attempt = (late: AbortSignal): Promise<boolean> => tryToHold(options, clock, memory, isOurs, late);
      while (!signal.aborted) {
        await pause(signal);
        if (signal.aborted || (await renewInTime(attempt, clock, memory.renewedAt + renewDeadlineMs, signal))) continue;
        if (signal.aborted) return undefined;
        if (memory.leader !== options.identity) return `${memory.leader || 'no instance'} leads now`;
        if (!isHeld()) return `not renewed for ${renewDeadlineMs} ms`;
      }
      return undefined;
    },
    isHeld,
    release: () => release(options, clock, memory),
  };
};

/** A request that hangs must not keep us leading past the deadline. */
const renewInTime = async (
  attempt: (signal: AbortSignal) => Promise<boolean>,
  clock: Clock,
  deadline: number,
  signal: AbortSignal,
): Promise<boolean> => {
  const late = new AbortController();
  const cancel = clock.schedule(Math.max(0, deadline - clock.monotonic()), () => late.abort());
  try {
    return await attempt(AbortSignal.any([signal, late.signal]));
  } finally {
    cancel();
  }
};

/** One try to get or to renew the lease. */
const tryToHold = async (
  options: LeaderElectionOptions,
  clock: Clock,
  memory: Memory,
  mayTake: (current: KubeObject | undefined) => boolean,
  signal: AbortSignal,
): Promise<boolean> => {
  const { client, namespace, name, identity, leaseMs = 15_000, observe = () => {} } = options;
  try {
    const current = await readCurrent(options, clock, memory, signal);
    if (!mayTake(current)) return false;
    const [startedAt, startedAtWall] = [clock.monotonic(), clock.wall()];
    const claim = claimedLease({ namespace, name, identity, leaseMs, now: clock.wall() }, current);
    const written = await (current === undefined
      ? client.create(LEASES, claim, {}, signal)
      : client.update(LEASES, claim, {}, signal));
    remember(options, clock, memory, written);
    // From before the request: the others count from when the server wrote it, which is later.
    memory.renewedAt = startedAt;
    memory.renewedAtWall = startedAtWall;
    return true;
  } catch (error) {
    if (!signal.aborted && !isConflict(error) && !isAlreadyExists(error)) observe({ kind: 'failed', error });
    return false;
  }
};

const readCurrent = async (
  { client, namespace, name, ...options }: LeaderElectionOptions,
  clock: Clock,
  memory: Memory,
  signal: AbortSignal,
): Promise<KubeObject | undefined> => {
  try {
    const lease = await client.get(LEASES, { namespace, name }, signal);
    remember({ client, namespace, name, ...options }, clock, memory, lease);
    return lease;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    memory.lease = undefined;
    memory.leader = '';
    return undefined;
  }
};

const remember = (
  { observe = () => {} }: LeaderElectionOptions,
  clock: Clock,
  memory: Memory,
  lease: KubeObject,
): void => {
  const [before, now] = [memory.lease === undefined ? undefined : readLease(memory.lease), readLease(lease)];
  if (before?.renewTime !== now.renewTime || before?.holder !== now.holder) memory.changedAt = clock.monotonic();
  memory.lease = lease;
  if (memory.leader === now.holder) return;
  memory.leader = now.holder;
  if (now.holder !== '') observe({ kind: 'leader', identity: now.holder });
};

/** To get the lease; to renew it, it has to be ours still: who had it in between may have given it back. */
const isFree =
  ({ identity, leaseMs = 15_000 }: LeaderElectionOptions, clock: Clock, memory: Memory) =>
  (lease: KubeObject | undefined): boolean => {
    if (lease === undefined) return true;
    const { holder, durationMs } = readLease(lease);
    if (holder === '' || holder === identity) return true;
    return clock.monotonic() - memory.changedAt >= Math.max(durationMs, leaseMs);
  };

/** How long a shutdown waits for this courtesy. */
const RELEASE_TIMEOUT_MS = 3000;

const release = async (
  { client, namespace, name, identity, observe = () => {} }: LeaderElectionOptions,
  clock: Clock,
  memory: Memory,
): Promise<void> => {
  const isOurs = (lease: KubeObject | undefined): lease is KubeObject =>
    lease !== undefined && readLease(lease).holder === identity;
  const timeout = new AbortController();
  const cancel = clock.schedule(RELEASE_TIMEOUT_MS, () =>
    timeout.abort(new Error('releasing the lease took too long')),
  );
  try {
    while (isOurs(memory.lease)) {
      try {
        memory.lease = await client.update(LEASES, releasedLease(memory.lease, clock.wall()), {}, timeout.signal);
        memory.leader = '';
      } catch (error) {
        if (!isConflict(error)) throw error;
        // Another has it, or a renewal of ours got through although it was cut off: then it is ours still.
        memory.lease = await client.get(LEASES, { namespace, name }, timeout.signal);
      }
    }
  } catch (error) {
    if (!isNotFound(error)) observe({ kind: 'failed', error });
  } finally {
    cancel();
  }
};
