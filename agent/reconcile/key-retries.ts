/**
 * When to try again what failed: each key on its own, later each time. One that can never be must not make one wait that
 * failed for a moment.
 */
import type { Clock } from '../../base/clock.ts';

export interface KeyRetriesOptions {
  readonly clock: Clock;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The time has come. */
  readonly retry: (keys: ReadonlySet<string>) => void;
}

export class KeyRetries {
  readonly #options: KeyRetriesOptions;
  /** How long each key that failed last time waits, or has waited. */
  readonly #waits = new Map<string, number>();
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

  /** After a look at keys. What has not failed starts anew when it does. */
  looked(keys: ReadonlySet<string> | 'all', failed: ReadonlySet<string>): void {
    for (const key of keys === 'all' ? [...this.#waits.keys()] : keys) if (!failed.has(key)) this.#waits.delete(key);
    const groups = new Map<number, Set<string>>();
    for (const key of failed) {
      // Looked at for another reason before its time: it still comes.
      if (this.#pending.has(key)) continue;
      const wait = this.#nextWait(key);
      this.#waits.set(key, wait);
      groups.set(wait, (groups.get(wait) ?? new Set()).add(key));
    }
    for (const [wait, group] of groups) this.#schedule(wait, group);
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }

  #nextWait(key: string): number {
    const { firstMs, lastMs } = this.#options;
    const before = this.#waits.get(key);
    return before === undefined ? firstMs : Math.min(before * 2, lastMs);
  }

  #schedule(wait: number, keys: ReadonlySet<string>): void {
    const { clock, retry } = this.#options;
    for (const key of keys) this.#pending.add(key);
    const cancel = clock.schedule(spread(wait), () => {
      this.#cancels.delete(cancel);
      for (const key of keys) this.#pending.delete(key);
      retry(keys);
    });
    this.#cancels.add(cancel);
  }
}

/** So that many nodes do not try at the same moment. */
export const spread = (ms: number): number => ms * (0.75 + Math.random() / 2);
