/**
 * Notices when the same unit is put right again and again: then somebody else wants it otherwise, and to insist at full
 * speed would keep all who watch the database busy. Such a unit is left alone for a while, longer each time; others are not.
 */
import { backoffMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';

export interface RepairsOptions {
  readonly clock: Clock;
  /** How often in a row a unit is put right at once. */
  readonly max: number;
  /** A unit has been left alone for long enough. */
  readonly onRested: (id: string) => void;
}

interface Repair {
  count: number;
  lastAt: number;
  /** Until then it is left alone. */
  restUntil: number | undefined;
}

/** What has stayed for so long was put right. Who changes it back less often than that does no harm. */
const STAYED_MS = 3_000;
const REST = { minMs: 250, maxMs: 60_000 };

export class Repairs {
  readonly #options: RepairsOptions;
  readonly #repairs = new Map<string, Repair>();
  readonly #timers = new Map<string, () => void>();
  #cancelForget: (() => void) | undefined;

  constructor(options: RepairsOptions) {
    this.#options = options;
  }

  /** A unit was written. Units that stay are forgotten after a while. */
  add(id: string): void {
    const now = this.#options.clock.monotonic();
    const count = this.#recent(id, now)?.count ?? 0;
    // The order is that of the last repair.
    this.#repairs.delete(id);
    this.#repairs.set(id, { count: count + 1, lastAt: now, restUntil: undefined });
    this.#forget(now);
    this.#forgetLater();
  }

  /** Whether a unit has had all of its tries: most have not, and need not be looked at any further. */
  isWorn(id: string): boolean {
    return (this.#repairs.get(id)?.count ?? 0) >= this.#options.max;
  }

  /** Whether a unit, which is not as it is wanted, is to be left alone now. `onRested` follows. */
  isToRest(id: string): boolean {
    const { clock, max } = this.#options;
    const now = clock.monotonic();
    const repair = this.#recent(id, now);
    if (repair === undefined || repair.count < max) return false;
    repair.restUntil ??= now + backoffMs(REST, repair.count - max + 1);
    if (repair.restUntil <= now) return false;
    this.#wakeAfter(id, repair.restUntil - now);
    return true;
  }

  /** Gives a unit its tries back. */
  forgive(id: string): void {
    this.#repairs.delete(id);
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#cancelForget?.();
    this.#cancelForget = undefined;
  }

  #forget(now: number): void {
    for (const [old, repair] of this.#repairs) {
      if (now - repair.lastAt <= STAYED_MS) return;
      if (now - (repair.restUntil ?? repair.lastAt) > STAYED_MS) this.#repairs.delete(old);
    }
  }

  /** A load writes very many units, and it may be long until the next one is written. */
  #forgetLater(): void {
    if (this.#cancelForget !== undefined || this.#repairs.size === 0) return;
    const { clock } = this.#options;
    this.#cancelForget = clock.schedule(STAYED_MS + 1, () => {
      this.#cancelForget = undefined;
      this.#forget(clock.monotonic());
      this.#forgetLater();
    });
  }

  #wakeAfter(id: string, ms: number): void {
    if (this.#timers.has(id)) return;
    const { clock, onRested } = this.#options;
    const wake = (): void => {
      this.#timers.delete(id);
      onRested(id);
    };
    this.#timers.set(id, clock.schedule(ms, wake));
  }

  #recent(id: string, now: number): Repair | undefined {
    const repair = this.#repairs.get(id);
    const isOver = repair?.restUntil === undefined && now - (repair?.lastAt ?? 0) > STAYED_MS;
    return isOver ? undefined : repair;
  }
}
