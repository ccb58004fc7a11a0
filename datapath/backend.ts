/**
 * What a reconciler needs of a place where things are programmed: a bridge's flows, the host's network stack, nftables.
 * Things are known by a key, a text that two things share only if one would replace the other.
 */

import type { Difference } from '../base/reconciler.ts';

export interface Backend<Item> {
  /**
   * Converges the actual state to the desired one, for the keys of the request, by difference: what is right is not
   * touched. Idempotent; one call at a time. Rejects only when nothing can be said of any key, for example because
   * the daemon is not there.
   */
  reconcile(request: ReconcileRequest<Item>, signal: AbortSignal): Promise<ReconcileOutcome>;
  /** Notifies the listener which keys to look at again, because of a change outside. @returns what ends it */
  listen(listener: (change: OutsideChange) => void): () => void;
  /** Reads everything, changes nothing. Absent: nobody asks for that. */
  difference?(desired: ReadonlyMap<string, Item>, signal: AbortSignal): Promise<readonly Difference[]>;
  close(): Promise<void>;
}

export interface ReconcileRequest<Item> {
  /** The whole desired state, by key. It goes on to change while the request is worked on, and what changed is requested next. */
  readonly desired: ReadonlyMap<string, Item>;
  /** Which keys to look at. `all`: read everything again, and remove owned state that is not desired if `prune`. */
  readonly keys: ReadonlySet<string> | 'all';
  /** Whether owned state that is not desired may be removed: all inputs are known. Else only additions and changes. */
  readonly prune: boolean;
}

export interface ReconcileOutcome {
  /** How many things were written: added, changed or removed. */
  readonly written: number;
  /** The keys of what was written; absent: they are not known, or too many to be named. */
  readonly writtenKeys?: ReadonlySet<string>;
  /** Keys that could not be brought about, each with the reason as a message without a full stop. */
  readonly failed: ReadonlyMap<string, string>;
  /** Keys that wait for an event of `listen`, for example of a port that is absent, and what they wait for. */
  readonly waiting: ReadonlyMap<string, string>;
  /** Keys that this machine cannot have at all, and why: nothing is gained by trying again. */
  readonly unsupported?: ReadonlyMap<string, string>;
}

export interface OutsideChange {
  /** `drift`: somebody changed or removed what is ours. `input`: what keys depend on (a link, a port number) changed. */
  readonly cause: 'drift' | 'input';
  readonly keys: ReadonlySet<string> | 'all';
}
