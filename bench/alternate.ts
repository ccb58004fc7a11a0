/** Measures two things in turns, so that whatever else the machine does meets both. */
export interface Samples {
  readonly values: readonly number[];
  readonly references: readonly number[];
}

export interface Rounds {
  readonly runs: number;
  /** Rounds that do not count: code that has not run before, caches that are empty. Default 0. */
  readonly warmUp?: number;
  readonly signal: AbortSignal;
}

/** @param measure, reference are called once per round, with its number; who is first changes with every round */
export const alternate = async (
  { runs, warmUp = 0, signal }: Rounds,
  measure: (round: number) => Promise<number>,
  reference: (round: number) => Promise<number>,
): Promise<Samples> => {
  const [values, references]: [number[], number[]] = [[], []];
  for (let round = 0; round < warmUp + runs; round++) {
    const turns = [async () => values.push(await measure(round)), async () => references.push(await reference(round))];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) {
      signal.throwIfAborted();
      await turn();
    }
  }
  return { values: values.slice(warmUp), references: references.slice(warmUp) };
};
