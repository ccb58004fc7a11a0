/** What a frame carries so that it is known again wherever it is heard. */
import { randomBytes } from 'node:crypto';

/** Of one run of one battery. */
export const newRun = (): string => randomBytes(4).toString('hex');

export const markerOf = (run: string, index: number): Buffer =>
  Buffer.from(`<${run}:${index.toString(16).padStart(6, '0')}>`);

/** Of a marker. */
export const indexOf = (marker: Buffer): number => Number.parseInt(marker.toString('latin1').slice(-7, -1), 16);
