/**
 * Distinguishes changes of our table by others from our own, in what `nft monitor` prints. Every transaction has a number,
 * and nft prints the number of our own.
 */
import type { OutsideChange } from '../backend.ts';
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
  readonly #notify: (cause: OutsideChange['cause']) => void;
  #isOurTable = false;
  /** While one of ours runs: those of which it is not known yet whose they are. */
  #undecided: number[] = [];
  #running = 0;
  /** Of those that run, or ended meanwhile, one ended without its number: it may have made what is undecided. */
  #hasUnknown = false;
  readonly #own = new Set<number>();

  /** @param notify called when another program has changed the table, or (`input`) when it may have */
  constructor(notify: (cause: OutsideChange['cause']) => void) {
    this.#notify = notify;
  }

  line(line: string): void {
    if (LOST.test(line)) this.#lost();
    else if (ABOUT_OURS.test(line)) this.#isOurTable = true;
    const generation = generationOf(line)?.number;
    if (generation === undefined) return;
    const isOurTable = this.#isOurTable;
    this.#isOurTable = false;
    if (!isOurTable || this.#own.delete(generation)) return;
    if (this.#running > 0) this.#undecided.push(generation);
    else this.#notify('drift');
  }

  /** A transaction of ours begins. @returns to be called at its end */
  own(): (generation: number | undefined) => void {
    this.#running++;
    return (generation) => {
      this.#running--;
      if (generation === undefined) this.#hasUnknown = true;
      else this.#remember(generation);
      if (this.#running > 0) return;
      const cause = this.#hasUnknown ? 'input' : 'drift';
      this.#hasUnknown = false;
      const undecided = this.#undecided.splice(0);
      if (undecided.filter((number) => !this.#own.delete(number)).length > 0) this.#notify(cause);
    };
  }

  /** The monitor ended: what it would have reported is unknown. */
  reset(): void {
    this.#isOurTable = false;
    this.#undecided = [];
    this.#own.clear();
  }

  /** Whose it was is unknown, and to which transaction the last line belongs. */
  #lost(): void {
    this.#isOurTable = false;
    this.#notify('input');
  }

  #remember(generation: number): void {
    this.#own.add(generation);
    for (const oldest of this.#own) {
      if (this.#own.size <= REMEMBERED) break;
      this.#own.delete(oldest);
    }
  }
}
