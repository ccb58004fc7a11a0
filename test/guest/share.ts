/** For Vitest, before the first test: the guest that all files of the run share starts with the first that needs it. */
import { shareGuest } from '../../sandbox/guest/shared.ts';

export const setup = async (): Promise<() => Promise<void>> => {
  const shared = await shareGuest();
  return () => Promise.resolve(shared[Symbol.asyncDispose]());
};
