/** Which cells of the matrix are asked where. */
import { needsKernel } from './kernel.ts';
import type { ExpectedCell } from './row.ts';
import { sampleOf } from './sample.ts';

export type Choice = (cells: readonly ExpectedCell[]) => readonly ExpectedCell[];

/** All that any machine can be asked. */
export const onAnyKernel: Choice = (cells) => cells.filter((one) => !needsKernel(one));

/** Of what is left a sample, as a guest is slow, or all of it where `UDN_SERVICE_MATRIX` says so. */
export const onGuestKernel: Choice = (cells) => {
  const left = cells.filter(needsKernel);
  return process.env['UDN_SERVICE_MATRIX'] === 'all' ? left : sampleOf(left);
};
