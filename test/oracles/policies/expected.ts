/** Attempts with what is to become of them. */
import { expect } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { type Attempt, answersTo, type Patience } from './run.ts';

export interface Expected extends Attempt {
  /** What it calls itself, as tenants have the same addresses; undefined: nobody. */
  readonly answeredBy: string | undefined;
  /** For people. */
  readonly why: string;
}

/** Longer each time: a busy machine has not answered some of thousands of packets when it is asked about the first. */
const patienceOf = (round: number): Patience => ({ timeoutMs: Math.min(300 * 2 ** round, 2_400), tries: 2 });
const LONG: Patience = { timeoutMs: 700, tries: 1 };
/** Rules that allow may come later, says Kubernetes; also those that isolate pods which are there already. */
const PATIENCE_MS = 60_000;
/** More of them say nothing more. */
const LINES = 20;

/** Waits until all is as expected, and looks once more whether what is forbidden stays so. */
export const expectAnswers = async (sandbox: Sandbox, expected: readonly Expected[]): Promise<void> => {
  let pending = expected;
  let round = 0;
  await eventually(
    async () => {
      const wrong = await wrongOf(sandbox, pending, patienceOf(round++));
      pending = wrong.map(([one]) => one);
      expect(wrong.map(([, text]) => text).slice(0, LINES)).toEqual([]);
    },
    PATIENCE_MS * (await sandbox.slowdown()),
  );
  const forbidden = expected.filter(({ answeredBy }) => answeredBy === undefined);
  const open = await wrongOf(sandbox, forbidden, LONG);
  expect(open.map(([, text]) => `again: ${text}`).slice(0, LINES)).toEqual([]);
};

const wrongOf = async (
  sandbox: Sandbox,
  expected: readonly Expected[],
  patience: Patience,
): Promise<(readonly [Expected, string])[]> => {
  const answers = await answersTo(sandbox, expected, patience);
  return expected.flatMap((one, index) => {
    const answer = answers[index];
    return answer === one.answeredBy ? [] : [[one, describe(one, answer)] as const];
  });
};

const describe = ({ from, address, protocol, port, answeredBy, why }: Expected, answer: string | undefined): string =>
  `${from.namespace}/${from.name} → ${address} ${protocol} ${port}: ${answer ?? 'silence'}, not ${answeredBy ?? 'silence'} (${why})`;
