/** Which cells of the matrix are asked where. */
import { nameOfSeed, seedOf } from '../seed.ts';
import { needsKernel } from './kernel.ts';
import type { ExpectedCell } from './row.ts';
import { sampleOf } from './sample.ts';

export interface Choice {
  /** How to have the same again. */
  readonly name: string;
  readonly of: (cells: readonly ExpectedCell[]) => readonly ExpectedCell[];
}

/** All that any machine can be asked. */
export const onAnyKernel: Choice = {
  name: 'on any kernel',
  of: (cells) => cells.filter((one) => !needsKernel(one)),
};

/** Of what is left a sample, as a guest is slow, or all of it where `UDN_SERVICE_MATRIX` says so. */
export const onGuestKernel = (env: NodeJS.ProcessEnv): Choice => {
  if (env['UDN_SERVICE_MATRIX'] === 'all') {
    return { name: 'UDN_SERVICE_MATRIX=all', of: (cells) => cells.filter(needsKernel) };
  }
  const seed = seedOf(env);
  return { name: nameOfSeed(seed), of: (cells) => sampleOf(cells.filter(needsKernel), seed) };
};
