/**
 * What a reconciler needs of a place where things are programmed: a bridge's flows, the host's network stack, nftables.
 * Things are known by a key, a text that two things share only if one would replace the other.
 */

import type { Difference } from '../base/reconciler.ts';

export interface Backend<Item> {
  /**
   * Makes what is there equal to what is wanted, for the keys of the request, by difference: what is right is not
   * touched. May be repeated; one call at a time. Rejects only when nothing can be said of any key, for example because
   * the daemon is not there.
   */
  reconcile(request: ReconcileRequest<Item>, signal: AbortSignal): Promise<ReconcileOutcome>;
  /** Tells which keys to look at again, because of something outside. @returns what ends it */
  listen(listener: (change: OutsideChange) => void): () => void;
  /** Reads everything, changes nothing. Absent: nobody asks for that. */
  difference?(wanted: ReadonlyMap<string, Item>, signal: AbortSignal): Promise<readonly Difference[]>;
  close(): Promise<void>;
}

export interface ReconcileRequest<Item> {
  /** Everything that is wanted, by key. Not changed while the request is worked on. */
  readonly wanted: ReadonlyMap<string, Item>;
  /** Which keys to look at. `all`: read everything anew, and remove what is ours and not wanted if `prune`. */
  readonly keys: ReadonlySet<string> | 'all';
  /** Removing what is ours and that nobody wants is allowed: all inputs are known. Else only additions and changes. */
  readonly prune: boolean;
}

export interface ReconcileOutcome {
  /** How many things were written: added, changed or removed. */
  readonly written: number;
  /** Keys that could not be brought about, each with the reason as a sentence without an end. */
  readonly failed: ReadonlyMap<string, string>;
  /** Keys that wait for something that will be told by `listen`, for example a port that is not there yet, and for what. */
  readonly waiting: ReadonlyMap<string, string>;
  /** Keys that this machine cannot have at all, and why: nothing is gained by trying again. */
  readonly unsupported?: ReadonlyMap<string, string>;
}

export interface OutsideChange {
  /** `drift`: somebody changed or removed what is ours. `input`: what keys depend on (a link, a port number) changed. */
  readonly cause: 'drift' | 'input';
  readonly keys: ReadonlySet<string> | 'all';
}
