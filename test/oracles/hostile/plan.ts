/** Which cases a run sends, and from which nodes: a sample with everything in pairs, or all of them. */
import { createHash, randomInt } from 'node:crypto';
import { type Cell, cells } from './cells.ts';
import { SOURCES, type SourceName } from './dimensions/sources.ts';
import { sampleOf } from './sample.ts';

/** Which of the two nodes. */
export type Seat = 0 | 1;

export interface Plan {
  /** How to have the same again. */
  readonly name: string;
  readonly cells: () => readonly Cell[];
  /** Who attacks from where. */
  readonly attacks: readonly { readonly source: SourceName; readonly seat: Seat }[];
  /** Of what is tried on one node, in a sample. */
  readonly seats: readonly Seat[];
}

const SEATS: readonly Seat[] = [0, 1];
const MOST = 2 ** 31;

/**
 * Another sample in each run, unless `UDN_HOSTILE_SEED=…` asks for one. `UDN_HOSTILE=all`: everything.
 * @throws Error for another value
 */
export const planOf = ({ UDN_HOSTILE: extent = 'sample', UDN_HOSTILE_SEED: given }: NodeJS.ProcessEnv): Plan => {
  if (extent === 'all') {
    const attacks = SOURCES.flatMap((source) => SEATS.map((seat) => ({ source, seat })));
    return { name: 'UDN_HOSTILE=all', cells, attacks, seats: SEATS };
  }
  if (extent !== 'sample') throw new Error(`UDN_HOSTILE must be all or sample, not "${extent}"`);
  const seed = given === undefined || given === '' ? String(randomInt(MOST)) : given;
  const digest = (what: string): string => createHash('sha256').update(`${seed} ${what}`).digest('hex');
  // Half of them on each node, in every run.
  const order = SOURCES.toSorted((a, b) => (digest(a) < digest(b) ? -1 : 1));
  return {
    name: `UDN_HOSTILE_SEED=${seed}`,
    cells: () => sampleOf(cells(), seed),
    attacks: SOURCES.map((source) => ({ source, seat: order.indexOf(source) % 2 === 0 ? 0 : 1 })),
    seats: [digest('seat') < '8' ? 0 : 1],
  };
};
