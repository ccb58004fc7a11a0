/** Which numbers the peers of a selection have for a named port. */
import { numberOf } from './compile.ts';
import { MAX_NUMBERS, type PortName } from './templates.ts';
import type { PolicyPod } from './types.ts';

export interface NameWatch {
  readonly port: PortName;
  /** Number → how many members call it so. */
  readonly counts: Map<number, number>;
  /** Those that count, in order. */
  used: readonly number[];
  /** There are others. */
  isMore: boolean;
  readonly readers: Map<() => void, number>;
}

/** @returns whether it changes which numbers count */
export const count = ({ port, counts }: NameWatch, pod: PolicyPod, by: 1 | -1): boolean => {
  const number = numberOf(port, pod.ports);
  if (number === undefined) return false;
  const after = (counts.get(number) ?? 0) + by;
  if (after > 0) counts.set(number, after);
  else counts.delete(number);
  return after === 0 || after === by || counts.size > MAX_NUMBERS;
};

/** Where there are too many, those of most pods: who adds numbers must not push out what others use. */
export const usedNumbers = ({ counts }: NameWatch): readonly number[] => {
  const numbers = [...counts].sort(([a, some], [b, others]) => others - some || a - b).map(([number]) => number);
  return numbers.slice(0, MAX_NUMBERS).sort((a, b) => a - b);
};
