/** How far what each owner wants is in the database. */
import { abortable } from '../../../base/abort.ts';
import { ReconcileError } from '../../errors.ts';
import { Listeners } from '../../listeners.ts';

export type OwnerStatus =
  | { readonly kind: 'done' }
  /** Not written yet; `message` says what it waits for, when it is not just its turn. */
  | { readonly kind: 'pending'; readonly since: number; readonly message?: string }
  /** Something has to change first, or the next try to succeed. */
  | { readonly kind: 'error'; readonly since: number; readonly code: string; readonly message: string };

export interface StatusEvent {
  readonly owner: string;
  readonly status: OwnerStatus;
}

/** A status without the time. */
export type Condition =
  | { readonly kind: 'done' }
  | { readonly kind: 'pending'; readonly message?: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string };

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const DONE: OwnerStatus = { kind: 'done' };

export class StatusBoard {
  readonly #conditionOf: (owner: string) => Condition;
  /** Milliseconds since 1970. */
  readonly #now: () => number;
  /** Owners that are done are not here: they are most. */
  readonly #statuses = new Map<string, Exclude<OwnerStatus, { kind: 'done' }>>();
  readonly #touched = new Set<string>();
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #listeners = new Listeners<StatusEvent>();

  constructor(conditionOf: (owner: string) => Condition, now: () => number) {
    this.#conditionOf = conditionOf;
    this.#now = now;
  }

  onStatus(listener: (event: StatusEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  get(owner: string): OwnerStatus {
    const condition = this.#conditionOf(owner);
    if (condition.kind === 'done') return DONE;
    const known = this.#statuses.get(owner);
    return { ...condition, since: known?.kind === condition.kind ? known.since : this.#now() };
  }

  /** Everybody who is not done. */
  unfinished(): ReadonlyMap<string, OwnerStatus> {
    this.publish();
    return this.#statuses;
  }

  /** The owner's status may have changed; nobody is told before `publish`. */
  touch(owner: string): void {
    this.#touched.add(owner);
  }

  publish(): void {
    for (const owner of this.#touched) {
      this.#touched.delete(owner);
      const before = this.#statuses.get(owner) ?? DONE;
      const status = this.get(owner);
      if (status.kind === 'done') this.#statuses.delete(owner);
      else this.#statuses.set(owner, status);
      if (!sameStatus(before, status)) this.#listeners.emit({ owner, status });
      this.#settle(owner, status);
    }
  }

  /**
   * Resolves when everything that the owner wants is in the database, and nothing that it does not want any more.
   * @throws ReconcileError when that is not just a matter of time; the signal's reason; both from the result
   */
  whenDone(owner: string, signal?: AbortSignal): Promise<void> {
    return abortable(signal, (resolve, reject) => {
      const status = this.get(owner);
      if (status.kind === 'done') resolve();
      if (status.kind === 'error') reject(errorOf(owner, status));
      const waiter: Waiter = { resolve, reject };
      const waiters = this.#waiters.get(owner) ?? new Set();
      if (status.kind === 'pending') this.#waiters.set(owner, waiters.add(waiter));
      return () => waiters.delete(waiter);
    });
  }

  #settle(owner: string, status: OwnerStatus): void {
    if (status.kind === 'pending') return;
    for (const waiter of [...(this.#waiters.get(owner) ?? [])]) {
      if (status.kind === 'done') waiter.resolve();
      else waiter.reject(errorOf(owner, status));
    }
    this.#waiters.delete(owner);
  }
}

const errorOf = (owner: string, { code, message }: Extract<OwnerStatus, { kind: 'error' }>): ReconcileError =>
  new ReconcileError(code, owner, message);

const sameStatus = (a: OwnerStatus, b: OwnerStatus): boolean => {
  if (a.kind !== b.kind) return false;
  return a.kind === 'done' || b.kind === 'done' || a.message === b.message;
};
