/** One line of `.bench/results.json`. */
export interface BenchResult {
  readonly name: string;
  /** What was measured, in `unit`. */
  readonly value: number;
  readonly unit: string;
  /** What the same run measured for the thing compared with, in `unit`; 1 where nothing is. */
  readonly reference: number;
  /** `value / reference`: less is better. */
  readonly ratio: number;
  /** How often each of the two was measured. */
  readonly rounds: number;
  /** Ascending, of each time that the whole benchmark ran; only where it ran more than once. */
  readonly ratios?: readonly number[];
}

type Measured = Omit<BenchResult, 'ratio' | 'ratios'>;

export const benchResult = ({ name, value, unit, reference, rounds }: Measured): BenchResult => ({
  name,
  value: rounded(value),
  unit,
  reference: rounded(reference),
  ratio: rounded(value / reference),
  rounds,
});

/** Four significant digits: more are noise. */
const rounded = (value: number): number => Number(value.toPrecision(4));
