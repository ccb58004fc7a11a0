/**
 * Distinguishes changes of our table by others from our own, in what `nft monitor` prints. Every transaction has a number,
 * and nft prints the number of our own.
 */
import { generationOf } from './nft-program.ts';
import { OUR_TABLE } from './types.ts';

const ABOUT_OURS = new RegExp(
  `^(?:add|create|insert|delete|destroy|replace|flush|rename) .*\\b${OUR_TABLE.family} ${OUR_TABLE.name}(?: |$)`,
);
/** The kernel had more to report than the socket could hold. */
const LOST = /^# ERROR: We lost some netlink events/;

/** The monitor may report ours before nft has ended, and after: this many are remembered. */
const REMEMBERED = 1000;

export class OutsideChanges {
  readonly #notify: () => void;
  #isOurTable = false;
  /** While one of ours runs: those of which it is not known yet whose they are. */
  #undecided: number[] = [];
  #running = 0;
  readonly #own = new Set<number>();

  /** @param notify called when another program has changed the table */
  constructor(notify: () => void) {
    this.#notify = notify;
  }

  line(line: string): void {
    if (LOST.test(line)) this.#notify();
    else if (ABOUT_OURS.test(line)) this.#isOurTable = true;
    const generation = generationOf(line)?.number;
    if (generation === undefined) return;
    const isOurTable = this.#isOurTable;
    this.#isOurTable = false;
    if (!isOurTable || this.#own.delete(generation)) return;
    if (this.#running > 0) this.#undecided.push(generation);
    else this.#notify();
  }

  /** A transaction of ours begins. @returns to be called at its end */
  own(): (generation: number | undefined) => void {
    this.#running++;
    return (generation) => {
      this.#running--;
      if (generation !== undefined) this.#remember(generation);
      if (this.#running > 0) return;
      const undecided = this.#undecided.splice(0);
      if (undecided.filter((number) => !this.#own.delete(number)).length > 0) this.#notify();
    };
  }

  /** The monitor ended: what it would have reported is unknown. */
  reset(): void {
    this.#isOurTable = false;
    this.#undecided = [];
    this.#own.clear();
  }

  #remember(generation: number): void {
    this.#own.add(generation);
    for (const oldest of this.#own) {
      if (this.#own.size <= REMEMBERED) break;
      this.#own.delete(oldest);
    }
  }
}
