/**
 * The contract of whatever keeps a backend as it is desired: a database, the flows of a bridge, the host's network stack,
 * nftables. Owners desire things, and a thing is known by its key.
 */

/**
 * - `done`: the actual state is the desired one.
 * - `pending`: its turn comes by itself.
 * - `waiting`: something else has to come first (a link, a row, a port). Its arrival is reported, so nothing is retried.
 * - `failed`: the last attempt failed, or something conflicts with it. It is retried with backoff, and when its cause changes.
 * - `unsupported`: this machine cannot have it at all. It is not retried, and its owner counts as done without it.
 */
export type State = 'done' | 'unsupported' | 'pending' | 'waiting' | 'failed';

export interface Status {
  readonly kind: State;
  /** Why, a message without a full stop. */
  readonly message?: string | undefined;
  /** For some failures: see docs/errors.md. */
  readonly code?: string;
}

export const DONE: Status = { kind: 'done' };

/** From the best to the worst. */
const SEVERITY: readonly State[] = ['done', 'unsupported', 'pending', 'waiting', 'failed'];

const severity = ({ kind, message }: Status): number => SEVERITY.indexOf(kind) * 2 + (message === undefined ? 0 : 1);

/** Of several that are equally bad the first that says why. */
export const worst = (statuses: readonly Status[]): Status =>
  statuses.reduce((a, b) => (severity(b) > severity(a) ? b : a), DONE);

/** Something that is not done. */
export interface Problem {
  /** The owner that has its way; a name of the thing itself where nobody desires it any more. */
  readonly owner: string;
  /** Absent where the reconciler knows no more than the owner. */
  readonly key?: string;
  /** False: it has to be removed. */
  readonly isDesired: boolean;
  readonly status: Status;
}

/** What is still to be done in a backend. */
export interface QueueState {
  /** Things to look at, those that wait for a retry included. */
  readonly depth: number;
  /** Milliseconds since there was nothing to do; 0 while there is nothing. */
  readonly oldestMs: number;
  /** Milliseconds since the last step, while there should be one. A backend that is away is no reason: asking it is a step. */
  readonly stalledMs: number;
  /** Everything was compared at least once since the start, and what could be applied then was. */
  readonly hasCompared: boolean;
  /** The backend does not answer. Databases report that by their sessions instead. */
  readonly failing?: { readonly forMs: number; readonly message: string } | undefined;
}

export interface Desired {
  readonly key: string;
  /** The one that has its way first. */
  readonly owners: readonly string[];
  /** Why it is not there, as far as that is known without looking. */
  readonly problem?: string | undefined;
}

/** The difference between desired and actual state, for people: `udnctl diff`. */
export interface Difference {
  readonly key: string;
  /** `missing`: desired and not there. `different`: there, but not as desired. `unwanted`: ours, and nobody desires it. */
  readonly kind: 'missing' | 'different' | 'unwanted';
  /** One line each, as the backend's own tools write it. */
  readonly desired?: string | undefined;
  readonly actual?: string | undefined;
}

export interface OwnedDifference extends Difference {
  /** Empty when nobody desires it. */
  readonly owners: readonly string[];
  /** The result of the last attempt to change that; absent: the next one is about to come. */
  readonly problem?: string | undefined;
}

export interface Comparable {
  desired(): Iterable<Desired>;
  /** Reads everything, changes nothing. @throws when the backend does not answer */
  differences(signal: AbortSignal): readonly OwnedDifference[] | Promise<readonly OwnedDifference[]>;
}

export interface Reconciler extends Comparable {
  /** The worst status of what an owner desires; an owner that desires nothing is done. */
  status(owner: string): Status;
  /** Everything that is not done. */
  problems(): readonly Problem[];
  queue(): QueueState;
  /** Resolves when nothing is left to be done but what waits or failed. @throws the signal's reason */
  whenIdle(signal?: AbortSignal): Promise<void>;
}
