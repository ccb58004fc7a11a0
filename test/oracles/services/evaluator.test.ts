import { describe, expect, it } from 'vitest';
import type { Answer } from './client.ts';
import type { Cell } from './dimensions.ts';
import { createEvaluator } from './evaluator.ts';
import type { Outcome } from './outcomes.ts';
import type { ExpectedCell } from './row.ts';

const CLIENT = { own: ['10.0.0.1'], node: 'node-1' };
const CELL: Cell = {
  from: 'pod of the network',
  to: 'ClusterIP',
  policy: 'Cluster',
  endpoints: 'both',
  owner: 'default',
  mode: 'shared',
  family: 4,
  protocol: 'TCP',
};
const expected = (expect: Outcome): ExpectedCell => ({ cell: CELL, row: { expect, why: 'for the test' } });
const by = (who: string, seen = '10.0.0.1'): Answer => ({ outcome: 'answered', who, seen });
const nobody = (outcome: string): Answer => ({ outcome, who: '', seen: '' });
const ALL = { by: 'all', as: ['itself'] } as const;

/** @returns whether it has no problem after each of the answers */
const resultsOf = (expect: Outcome, answers: readonly Answer[]): boolean[] => {
  const one = expected(expect);
  const evaluator = createEvaluator([one], CLIENT);
  return answers.map((answer) => {
    evaluator.take(one, answer);
    return evaluator.problems().length === 0;
  });
};

describe('the evaluate of the matrix of Services', () => {
  it('wants every endpoint to have answered, in several rounds if need be', () => {
    expect(resultsOf(ALL, [by('web-node-1'), by('web-node-1'), by('web-node-2')])).toEqual([false, false, true]);
    expect(resultsOf({ ...ALL, by: 'here' }, [by('web-node-1')])).toEqual([true]);
  });

  it('restarts after an answer of somebody else, as somebody else, or none', () => {
    const wrong = [by('web-node-3'), by('web-node-1', '169.254.0.2'), nobody('silent'), nobody('refused')];
    for (const answer of wrong) {
      const answers = [by('web-node-1'), answer, by('web-node-2'), by('web-node-1')];
      expect(resultsOf(ALL, answers)).toEqual([false, false, false, true]);
    }
  });

  it('confirms that nobody else answers where one of two endpoints is to', () => {
    const one = expected({ ...ALL, by: 'here' });
    for (const [answer, isRight] of [
      [by('web-node-1'), true],
      [by('web-node-2'), false],
      [by('web-node-1', '169.254.0.2'), false],
      [nobody('silent'), false],
    ] as const) {
      const evaluator = createEvaluator([one, expected(ALL)], CLIENT);
      evaluator.take(one, by('web-node-1'));
      expect(evaluator.doubtful()).toEqual([one]);
      const before = evaluator.problems().length;
      evaluator.confirm(one, answer);
      evaluator.confirm(one, by('web-node-1'));
      expect(evaluator.problems().length - before).toBe(isRight ? 0 : 1);
    }
  });

  it('asks once more about silence where an answer is to be confirmed, and takes no other', () => {
    const one = expected({ ...ALL, by: 'here' });
    for (const [answers, isRight] of [
      [[by('web-node-1')], true],
      [[by('web-node-1'), nobody('silent')], false],
      [[by('web-node-2')], false],
    ] as const) {
      const evaluator = createEvaluator([one], CLIENT);
      evaluator.take(one, by('web-node-1'));
      evaluator.confirm(one, nobody('silent'));
      expect(evaluator.problems()).toHaveLength(1);
      expect(evaluator.unsure()).toEqual([one]);
      for (const answer of answers) evaluator.confirm(one, answer);
      expect(evaluator.problems()).toHaveLength(isRight ? 0 : 1);
    }
  });

  it('waits for a refusal, and never forgets an answer that there should not have been', () => {
    expect(resultsOf('refused', [nobody('silent'), nobody('refused')])).toEqual([false, true]);
    expect(resultsOf('refused', [by('web-node-1'), nobody('refused')])).toEqual([false, false]);
  });

  it('takes silence for silence only, and anything but an answer for none', () => {
    expect(resultsOf('silent', [nobody('silent')])).toEqual([true]);
    expect(resultsOf('silent', [nobody('refused')])).toEqual([false]);
    expect(resultsOf('unanswered', [nobody('ENETUNREACH')])).toEqual([true]);
    for (const outcome of ['silent', 'unanswered'] as const) {
      expect(resultsOf(outcome, [by('web-node-1'), nobody('silent')])).toEqual([false, false]);
    }
  });

  it('says which cell is wrong and what was answered', () => {
    const one = expected(ALL);
    const evaluator = createEvaluator([one], CLIENT);
    evaluator.take(one, by('web-node-1', '100.64.0.2'));
    expect(evaluator.problems()).toEqual([
      'pod of the network → default: ClusterIP, Cluster, endpoints both, TCP IPv4, answered as itself: last web-node-1 as gateway router, still to come web-node-1, web-node-2',
    ]);
    expect([evaluator.open(), evaluator.quiet(), evaluator.timesToAsk(one)]).toEqual([[one], [], 3]);
  });
});
