/** Which cases a run sends, and from which nodes: a sample with everything in pairs, or all of them. */
import { createHash } from 'node:crypto';
import { nameOfSeed, seedOf } from '../seed.ts';
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

/** Of attackers, which of two halves. */
export type Half = 0 | 1;

/**
 * Another sample in each run, unless `UDN_HOSTILE_SEED=…` asks for one. `UDN_HOSTILE=all`: everything.
 * @param half of a sample: two clusters have all attackers together, each others by each seed
 * @throws Error for another value
 */
export const planOf = (env: NodeJS.ProcessEnv, half?: Half): Plan => {
  const { UDN_HOSTILE: extent = 'sample' } = env;
  if (extent === 'all') {
    const attacks = SOURCES.flatMap((source) => SEATS.map((seat) => ({ source, seat })));
    return { name: 'UDN_HOSTILE=all', cells, attacks, seats: SEATS };
  }
  if (extent !== 'sample') throw new Error(`UDN_HOSTILE must be all or sample, not "${extent}"`);
  const seed = seedOf(env);
  const digest = (what: string): string => createHash('sha256').update(`${seed} ${what}`).digest('hex');
  // Half of them on each node, in every run, and of each half of them again half.
  const order = SOURCES.toSorted((a, b) => (digest(a) < digest(b) ? -1 : 1));
  const isOfHalf = (source: SourceName): boolean =>
    half === undefined || Math.floor(order.indexOf(source) / 2) % 2 === half;
  return {
    name: nameOfSeed(seed),
    cells: () => sampleOf(cells(), seed),
    attacks: SOURCES.filter(isOfHalf).map((source) => ({ source, seat: order.indexOf(source) % 2 === 0 ? 0 : 1 })),
    seats: [digest('seat') < '8' ? 0 : 1],
  };
};
