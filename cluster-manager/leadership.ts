/** One cluster manager works at a time: the one that holds a Lease. The others wait. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type Clock, delay, systemClock } from '../base/clock.ts';
import { isNotFound } from '../kube/errors.ts';
import { runLeaderElection } from '../kube/lease/leader-election.ts';
import { readLease } from '../kube/lease/lease-record.ts';
import type { LeaderElectionObservation } from '../kube/lease/types.ts';
import { LEASES } from '../kube/resources.ts';
import type { KubeClient, KubeObject } from '../kube/types.ts';
import type { LeaseOptions } from './options.ts';

export interface LeadershipOptions {
  readonly client: KubeClient;
  readonly lease: LeaseOptions;
  /** False: it does not hold the Lease, and works only when nobody does. Default: true. */
  readonly electsLeader?: boolean;
  readonly log: Logger;
  /** The API server has answered about the Lease. */
  readonly onReached?: () => void;
  readonly clock?: Clock;
}

/**
 * Does the work once we lead, until `signal` aborts.
 * @throws when leadership is lost: others may have given out what we hold in memory, so the process has to restart; and when
 *   it works without the Lease that somebody holds
 */
export const whenLeading = async (
  options: LeadershipOptions,
  work: (signal: AbortSignal, isHeld: () => boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { client, lease, log, electsLeader = true, onReached = () => {} } = options;
  if (!electsLeader) {
    await refuseWhileHeld(options, signal);
    return signal.aborted ? undefined : work(signal, () => true);
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

const RETRY_MS = 2_000;

/** @throws Error that names the holder */
const refuseWhileHeld = async (
  { client, lease: { namespace, name }, log, onReached = () => {}, clock = systemClock }: LeadershipOptions,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      const holder = holderOf(await readIfThere(client, { namespace, name }, signal), clock.wall());
      onReached();
      if (holder === undefined) return;
      throw new HeldLeaseError(
        `${holder} holds the Lease ${namespace}/${name}: two active cluster managers would allocate one id twice. Stop that one, or remove --leader-elect=false`,
      );
    } catch (error) {
      if (error instanceof HeldLeaseError) throw error;
      if (!signal.aborted) logLeadership(log, { kind: 'failed', error });
    }
    await delay(clock, RETRY_MS, signal).catch(() => {});
  }
};

class HeldLeaseError extends Error {
  override readonly name = 'HeldLeaseError';
  readonly code = 'ERR_LEASE_HELD';
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

/** Undefined: nobody, or somebody who has let it run out. */
const holderOf = (found: KubeObject | undefined, now: number): string | undefined => {
  if (found === undefined) return undefined;
  const { holder, durationMs, renewTime } = readLease(found);
  // Without a time it is taken for held: whoever wrote it knows better.
  const isOver = renewTime !== undefined && Date.parse(renewTime) + durationMs < now;
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
