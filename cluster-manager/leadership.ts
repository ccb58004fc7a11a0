/** One cluster manager works at a time: the one that holds a Lease. The others wait. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { runLeaderElection } from '../kube/lease/leader-election.ts';
import type { LeaderElectionObservation } from '../kube/lease/types.ts';
import type { KubeClient } from '../kube/types.ts';
import type { LeaseOptions } from './options.ts';

export interface LeadershipOptions {
  readonly client: KubeClient;
  /** Undefined: nobody else is there. */
  readonly lease: LeaseOptions | undefined;
  readonly log: Logger;
}

/**
 * Does the work once we lead, until `signal` aborts.
 * @throws when leadership is lost: others may have given out what we hold in memory, so the process has to restart
 */
export const whenLeading = async (
  { client, lease, log }: LeadershipOptions,
  work: (signal: AbortSignal, isHeld: () => boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  if (lease === undefined) return work(signal, () => true);
  const identity = `${hostname()}_${randomUUID()}`;
  const observe = (observation: LeaderElectionObservation): void => logLeadership(log, observation);
  const lead = async (leading: AbortSignal, isHeld: () => boolean): Promise<void> => {
    await work(leading, isHeld);
    if (!signal.aborted) throw new Error('leadership is lost');
  };
  await runLeaderElection({ client, ...lease, ...timesOf(lease), identity, lead, observe }, signal);
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
