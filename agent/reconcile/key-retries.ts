/**
 * When to try again what failed: each key on its own, later each time. One that can never be must not make one wait that
 * failed for a moment.
 */
import { type BackoffOptions, backoffMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';

export interface KeyRetriesOptions {
  readonly clock: Clock;
  readonly backoff: BackoffOptions;
  /** The time has come. */
  readonly retry: (keys: ReadonlySet<string>) => void;
}

export class KeyRetries {
  readonly #options: KeyRetriesOptions;
  /** How often each key that failed last time has failed in a row. */
  readonly #failures = new Map<string, number>();
  /** Keys whose time will come. */
  readonly #pending = new Set<string>();
  readonly #cancels = new Set<() => void>();

  constructor(options: KeyRetriesOptions) {
    this.#options = options;
  }

  /** How many keys will be tried again. */
  get pending(): number {
    return this.#pending.size;
  }

  /** After a look at keys. What has not failed restarts when it does. */
  looked(keys: ReadonlySet<string> | 'all', failed: ReadonlySet<string>): void {
    for (const key of keys === 'all' ? [...this.#failures.keys()] : keys)
      if (!failed.has(key)) this.#failures.delete(key);
    const groups = new Map<number, Set<string>>();
    for (const key of failed) {
      // Looked at for another reason before its time: it still comes.
      if (this.#pending.has(key)) continue;
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      groups.set(failures, (groups.get(failures) ?? new Set()).add(key));
    }
    for (const [failures, group] of groups) this.#schedule(failures, group);
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }

  #schedule(failures: number, keys: ReadonlySet<string>): void {
    const { clock, backoff, retry } = this.#options;
    for (const key of keys) this.#pending.add(key);
    const cancel = clock.schedule(backoffMs(backoff, failures), () => {
      this.#cancels.delete(cancel);
      for (const key of keys) this.#pending.delete(key);
      retry(keys);
    });
    this.#cancels.add(cancel);
  }
}
