/** Which cases a run sends: a sample with everything in pairs, or all of them. */
import { type Cell, cells } from './cells.ts';
import { sampleOf } from './sample.ts';

export interface Plan {
  /** How to have the same again. */
  readonly name: string;
  readonly cells: () => readonly Cell[];
}

/** The same in every run of the ordinary lane: a failure is one of the change, not of the day. */
const ORDINARY_SEED = '1';

/**
 * `UDN_HOSTILE=all`: everything. `UDN_HOSTILE_SEED=…`: another sample; `random`: one that nobody has seen.
 * @throws Error for another value
 */
export const planOf = ({
  UDN_HOSTILE: extent = 'sample',
  UDN_HOSTILE_SEED: seed = ORDINARY_SEED,
}: NodeJS.ProcessEnv): Plan => {
  if (extent === 'all') return { name: 'UDN_HOSTILE=all', cells };
  if (extent !== 'sample') throw new Error(`UDN_HOSTILE must be all or sample, not "${extent}"`);
  const actual = seed === 'random' ? String(Date.now()) : seed;
  return { name: `UDN_HOSTILE_SEED=${actual}`, cells: () => sampleOf(cells(), actual) };
};
