/** The statuses of owners, and those who wait for them. */
import { abortable } from '../../../base/abort.ts';
import { DONE, type Status } from '../../../base/reconciler.ts';
import { ReconcileError } from '../../errors.ts';
import { Listeners } from '../../listeners.ts';

export interface StatusEvent {
  readonly owner: string;
  readonly status: Status;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class StatusBoard {
  readonly #statusOf: (owner: string) => Status;
  /** Owners that are done are not here: they are most. */
  readonly #statuses = new Map<string, Status>();
  readonly #touched = new Set<string>();
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #listeners = new Listeners<StatusEvent>();

  constructor(statusOf: (owner: string) => Status) {
    this.#statusOf = statusOf;
  }

  onStatus(listener: (event: StatusEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Everybody who is not done. */
  unfinished(): ReadonlyMap<string, Status> {
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
      const status = this.#statusOf(owner);
      if (status.kind === 'done') this.#statuses.delete(owner);
      else this.#statuses.set(owner, status);
      if (before.kind !== status.kind || before.message !== status.message) this.#listeners.emit({ owner, status });
      this.#settle(owner, status);
    }
  }

  /**
   * Resolves when everything that the owner wants is in the database, and nothing that it does not want any more.
   * @throws ReconcileError when it failed; the signal's reason; both from the result
   */
  whenDone(owner: string, signal?: AbortSignal): Promise<void> {
    return abortable(signal, (resolve, reject) => {
      const waiter: Waiter = { resolve, reject };
      const waiters = this.#waiters.get(owner) ?? new Set();
      this.#waiters.set(owner, waiters.add(waiter));
      this.#settle(owner, this.#statusOf(owner));
      return () => waiters.delete(waiter);
    });
  }

  #settle(owner: string, { kind, code = '', message = '' }: Status): void {
    if (kind !== 'done' && kind !== 'failed') return;
    for (const { resolve, reject } of [...(this.#waiters.get(owner) ?? [])]) {
      if (kind === 'done') resolve();
      else reject(new ReconcileError(code, owner, message));
    }
    this.#waiters.delete(owner);
  }
}
