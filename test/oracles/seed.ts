/** One number chooses all samples of a run, and the same ones again. */
import { randomInt } from 'node:crypto';

const MOST = 2 ** 31;

/** Another one in each run, unless `UDN_HOSTILE_SEED=…` names one. */
export const seedOf = ({ UDN_HOSTILE_SEED: given }: NodeJS.ProcessEnv): string =>
  given === undefined || given === '' ? String(randomInt(MOST)) : given;

/** How to have the same again: names of tests, in which `tools/reports.ts` finds it. */
export const nameOfSeed = (seed: string): string => `UDN_HOSTILE_SEED=${seed}`;
