/** Evaluates what was answered, cell by cell. */

import type { Answer } from './client.ts';
import type { Answered, Outcome } from './outcomes.ts';
import type { ExpectedCell } from './row.ts';
import { type Client, describeSeen } from './seen.ts';
import { endpointsOf, entryNode } from './world.ts';

export interface Evaluator {
  /** Cells that are to be answered or refused and were not yet. */
  open(): readonly ExpectedCell[];
  /** Cells that nobody may answer. */
  quiet(): readonly ExpectedCell[];
  /** Cells that are answered by some endpoints only, and have others: once more, as one right answer may be chance. */
  doubtful(): readonly ExpectedCell[];
  timesToAsk(one: ExpectedCell): number;
  take(one: ExpectedCell, answer: Answer): void;
  /** Of a cell that was as it should be, and has to stay so. Silence may be that of a busy machine: it is asked about once more. */
  confirm(one: ExpectedCell, answer: Answer): void;
  /** Cells that were silent when they were to confirm. What is silent from now on is wrong. */
  unsure(): readonly ExpectedCell[];
  /** A line for each cell that is not, or not yet, as it should be. */
  problems(): string[];
}

/** One of two endpoints is missed once in four times; then it is asked again. */
const OFTEN = 3;

/** Who answers is chance: what several rounds have seen of a cell counts, but for an answer that is wrong. */
export const createEvaluator = (expected: readonly ExpectedCell[], client: Client): Evaluator => {
  const quiet = expected.filter(({ row }) => row.expect === 'silent' || row.expect === 'unanswered');
  const missing = new Map(
    expected.filter((one) => !quiet.includes(one)).map((one) => [one, new Set(namesOf(one))] as const),
  );
  const last = new Map<ExpectedCell, string>();
  const wrong = new Set<ExpectedCell>();
  const unsure = new Set<ExpectedCell>();
  let isLastTime = false;

  const seenIn = (one: ExpectedCell, answer: Answer): string => {
    const seen = answer.outcome === 'answered' ? describeSeen(answer.seen, client, entryNode(one.cell)) : '';
    last.set(one, seen === '' ? answer.outcome : `${answer.who} as ${seen}`);
    return seen;
  };

  const isRight = (one: ExpectedCell, { who }: Answer, seen: string): boolean => {
    const { expect } = one.row;
    return isAnswered(expect) && namesOf(one).includes(who) && expect.as.some((as) => as === seen);
  };

  const take = (one: ExpectedCell, answer: Answer): void => {
    const { expect } = one.row;
    const seen = seenIn(one, answer);
    if (!isAnswered(expect)) {
      if (answer.outcome === expect) missing.delete(one);
      // Also once: nobody may reach it at any time.
      else if (answer.outcome === 'answered' || expect === 'silent') wrong.add(one);
    } else if (isRight(one, answer, seen)) {
      const names = missing.get(one);
      names?.delete(answer.who);
      if (names?.size === 0) missing.delete(one);
    } else missing.set(one, new Set(namesOf(one)));
  };

  return {
    open: () => [...missing.keys()],
    quiet: () => quiet,
    doubtful: () =>
      expected.filter(
        ({ cell, row }) =>
          isAnswered(row.expect) &&
          row.expect.by === 'here' &&
          (cell.endpoints === 'both' || cell.endpoints === 'nodes'),
      ),
    timesToAsk: (one) => ((missing.get(one)?.size ?? 0) > 1 ? OFTEN : 1),
    take,
    confirm: (one, answer) => {
      if (isRight(one, answer, seenIn(one, answer))) return;
      (answer.outcome === 'silent' && !isLastTime ? unsure : wrong).add(one);
    },
    unsure: () => {
      isLastTime = true;
      const asked = [...unsure];
      unsure.clear();
      return asked;
    },
    problems: () =>
      [...new Set([...missing.keys(), ...wrong, ...unsure])].map(
        (one) =>
          `${describeCell(one)}: last ${last.get(one)}, still to come ${[...(missing.get(one) ?? [])].join(', ')}`,
      ),
  };
};

const isAnswered = (outcome: Outcome): outcome is Answered => typeof outcome === 'object';

const namesOf = ({ cell, row }: ExpectedCell): string[] =>
  isAnswered(row.expect) ? endpointsOf(cell, row.expect.by) : [];

const describeCell = ({ cell, row }: ExpectedCell): string => {
  const { from, to, policy, endpoints, owner, family, protocol } = cell;
  const outcome = isAnswered(row.expect) ? `answered as ${row.expect.as.join(' or ')}` : row.expect;
  const reports = (row.reports ?? []).map((number) => ` (ovn-kubernetes #${number})`).join('');
  return `${from} → ${owner}: ${to}, ${policy}, endpoints ${endpoints}, ${protocol} IPv${family}, ${outcome}${reports}`;
};
