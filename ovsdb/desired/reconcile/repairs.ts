/**
 * Notices when the same unit is put right again and again: then somebody else wants it otherwise, and to insist at full
 * speed would keep all who watch the database busy.
 */
interface Repair {
  count: number;
  lastAt: number;
}

export class Repairs {
  readonly #windowMs: number;
  readonly #max: number;
  readonly #repairs = new Map<string, Repair>();

  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /** A unit was written. Units that stay are forgotten after a while. */
  add(id: string, now: number): void {
    const repair = this.#recent(id, now);
    // The order is that of the last repair.
    this.#repairs.delete(id);
    this.#repairs.set(id, { count: (repair?.count ?? 0) + 1, lastAt: now });
    for (const [old, { lastAt }] of this.#repairs) {
      if (now - lastAt <= this.#windowMs) return;
      this.#repairs.delete(old);
    }
  }

  isTooMany(id: string, now: number): boolean {
    return (this.#recent(id, now)?.count ?? 0) >= this.#max;
  }

  /** Gives a unit its tries back. */
  forgive(id: string): void {
    this.#repairs.delete(id);
  }

  #recent(id: string, now: number): Repair | undefined {
    const repair = this.#repairs.get(id);
    return repair === undefined || now - repair.lastAt > this.#windowMs ? undefined : repair;
  }
}
