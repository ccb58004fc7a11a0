/** Measures things in turns, so that whatever else the machine does meets all of them. */
export interface Samples {
  readonly values: readonly number[];
  readonly references: readonly number[];
}

export interface Rounds {
  readonly rounds: number;
  /** Which run of its benchmark this is. Later ones do not warm up, and go on with the numbers of the rounds. Default 0. */
  readonly run?: number;
  /** Rounds that do not count: code that has not run before, caches that are empty. Default 0. */
  readonly warmUp?: number;
  readonly signal: AbortSignal;
}

export type Turn<Sample = number> = (round: number) => Promise<Sample>;

/** @param measure, reference are called once per round, with its number; who is first changes with every round */
export const alternate = async (rounds: Rounds, measure: Turn, reference: Turn): Promise<Samples> => {
  const { values, references } = await takeTurns(rounds, { values: measure, references: reference });
  return { values, references };
};

/**
 * @param turns are called once per round, with its number; who is first changes with every round
 * @returns the samples of each
 */
export const takeTurns = async <Name extends string, Sample = number>(
  { rounds, run = 0, warmUp = 0, signal }: Rounds,
  turns: Readonly<Record<Name, Turn<Sample>>>,
): Promise<Record<Name, Sample[]>> => {
  const entries = Object.entries<Turn<Sample>>(turns).map(([name, turn]) => ({ name, turn, samples: [] as Sample[] }));
  const [begin, end] = [run === 0 ? 0 : warmUp + run * rounds, warmUp + (run + 1) * rounds];
  for (let round = begin; round < end; round++) {
    const first = round % entries.length;
    for (const { turn, samples } of [...entries.slice(first), ...entries.slice(0, first)]) {
      signal.throwIfAborted();
      samples.push(await turn(round));
    }
  }
  return Object.fromEntries(entries.map(({ name, samples }) => [name, samples.slice(-rounds)])) as Record<
    Name,
    Sample[]
  >;
};
