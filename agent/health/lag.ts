/** How long somebody has owed the answer to a number that only grows: `nb_cfg` and those who copy it, ovn-nb(5). */
export interface Behind {
  /** 0: nothing is owed. */
  readonly ms: number;
  /** Since then, or since it answered an earlier number, if that was later. */
  readonly quietMs: number;
  /** How often both numbers were read in `quietMs`. */
  readonly readings: number;
  readonly asked: number;
}

/**
 * A daemon that owes an answer and gives none for so long counts as one that has stopped: by the clock, and by the readings. Where
 * processors are scarce a reading takes seconds, and then a daemon that is only late has as much more time as whoever reads. One that
 * answers earlier numbers is slow, until what it owes is a minute old: new pods wait no longer than that.
 */
export const isStalled = ({ ms, quietMs, readings }: Behind): boolean =>
  ms >= TOO_LATE_MS || (quietMs >= STALLED_MS && readings >= STALLED_READINGS);

const TOO_LATE_MS = 60_000;
const STALLED_MS = 7_000;
const STALLED_READINGS = 4;

export class Lag {
  #last: Behind = { ms: 0, quietMs: 0, readings: 0, asked: 0 };
  /** What was asked and is not answered, oldest first. */
  #asked: { readonly value: number; readonly at: number; readonly reading: number }[] = [];
  #readings = 0;
  /** The answer at the first reading, where more was owed than what had just been asked; undefined: it has answered since, or owed nothing. */
  #unproven: number | undefined;

  /** It owed answers to what was asked before we looked, and has given none: that it runs is not known. */
  get isUnproven(): boolean {
    return this.#unproven !== undefined;
  }
  /** When the answer changed last. */
  #answered: { readonly reached: number; readonly at: number; readonly reading: number } | undefined;

  /**
   * What is owed now. Where one of the two numbers could not be read, what was owed at the last reading: no answer is none that it
   * has been done.
   */
  follow(asked: number | undefined, reached: number | undefined, now: number): Behind {
    if (asked === undefined || reached === undefined) return this.#last;
    this.#readings += 1;
    if (this.#readings === 1 && asked - reached > 1) this.#unproven = reached;
    else if (this.#unproven !== reached) this.#unproven = undefined;
    this.asked(asked, now);
    this.#last = this.behind(reached, now);
    return this.#last;
  }

  /** @param at milliseconds of a clock that never goes back */
  asked(value: number, at: number): void {
    const last = this.#asked.at(-1);
    // A database that was created again counts from the beginning.
    if (last !== undefined && value < last.value) this.#asked = [];
    if (last === undefined || value !== last.value) this.#asked.push({ value, at, reading: this.#readings });
  }

  /** The first number above `reached` that was asked, and how long ago. */
  behind(reached: number, now: number): Behind {
    this.#asked = this.#asked.filter(({ value }) => value > reached);
    if (this.#answered?.reached !== reached) this.#answered = { reached, at: now, reading: this.#readings };
    const [oldest] = this.#asked;
    if (oldest === undefined) return { ms: 0, quietMs: 0, readings: 0, asked: reached };
    const since = oldest.at > this.#answered.at ? oldest : this.#answered;
    return {
      ms: now - oldest.at,
      quietMs: now - since.at,
      readings: this.#readings - since.reading,
      asked: oldest.value,
    };
  }
}
