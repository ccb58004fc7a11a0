/** A duration as kubectl's `--request-timeout` has it: seconds, or Go's way to write one. */

/** @returns milliseconds; undefined when it is none */
export const parseTimeout = (text: string): number | undefined => {
  if (/^[0-9]+$/.test(text)) return bounded(Number(text) * 1_000);
  if (!/^([0-9]+(\.[0-9]+)?(ms|h|m|s))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/([0-9.]+)(ms|h|m|s)/g)];
  return bounded(parts.reduce((sum, [, value, unit = 's']) => sum + Number(value) * (UNITS[unit] ?? 0), 0));
};

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Zero is for ever. Timers count to 2^31-1 milliseconds, some 24 days. */
const bounded = (milliseconds: number): number =>
  milliseconds === 0 ? FOR_EVER : Math.min(Math.ceil(milliseconds), FOR_EVER);

export const FOR_EVER = 2 ** 31 - 1;
