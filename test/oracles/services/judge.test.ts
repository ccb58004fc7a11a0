import { describe, expect, it } from 'vitest';
import type { Answer } from './client.ts';
import type { Cell } from './dimensions.ts';
import { createJudge } from './judge.ts';
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
const judged = (expect: Outcome, answers: readonly Answer[]): boolean[] => {
  const one = expected(expect);
  const judge = createJudge([one], CLIENT);
  return answers.map((answer) => {
    judge.take(one, answer);
    return judge.problems().length === 0;
  });
};

describe('the judge of the matrix of Services', () => {
  it('wants every endpoint to have answered, in several rounds if need be', () => {
    expect(judged(ALL, [by('web-node-1'), by('web-node-1'), by('web-node-2')])).toEqual([false, false, true]);
    expect(judged({ ...ALL, by: 'here' }, [by('web-node-1')])).toEqual([true]);
  });

  it('begins anew after an answer of somebody else, as somebody else, or none', () => {
    const wrong = [by('web-node-3'), by('web-node-1', '169.254.0.2'), nobody('silent'), nobody('refused')];
    for (const answer of wrong) {
      const answers = [by('web-node-1'), answer, by('web-node-2'), by('web-node-1')];
      expect(judged(ALL, answers)).toEqual([false, false, false, true]);
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
      const judge = createJudge([one, expected(ALL)], CLIENT);
      judge.take(one, by('web-node-1'));
      expect(judge.doubtful()).toEqual([one]);
      const before = judge.problems().length;
      judge.confirm(one, answer);
      judge.confirm(one, by('web-node-1'));
      expect(judge.problems().length - before).toBe(isRight ? 0 : 1);
    }
  });

  it('asks once more about silence where an answer is to be confirmed, and takes no other', () => {
    const one = expected({ ...ALL, by: 'here' });
    for (const [answers, isRight] of [
      [[by('web-node-1')], true],
      [[by('web-node-1'), nobody('silent')], false],
      [[by('web-node-2')], false],
    ] as const) {
      const judge = createJudge([one], CLIENT);
      judge.take(one, by('web-node-1'));
      judge.confirm(one, nobody('silent'));
      expect(judge.problems()).toHaveLength(1);
      expect(judge.unsure()).toEqual([one]);
      for (const answer of answers) judge.confirm(one, answer);
      expect(judge.problems()).toHaveLength(isRight ? 0 : 1);
    }
  });

  it('waits for a refusal, and never forgets an answer that there should not have been', () => {
    expect(judged('refused', [nobody('silent'), nobody('refused')])).toEqual([false, true]);
    expect(judged('refused', [by('web-node-1'), nobody('refused')])).toEqual([false, false]);
  });

  it('takes silence for silence only, and anything but an answer for none', () => {
    expect(judged('silent', [nobody('silent')])).toEqual([true]);
    expect(judged('silent', [nobody('refused')])).toEqual([false]);
    expect(judged('unanswered', [nobody('ENETUNREACH')])).toEqual([true]);
    for (const outcome of ['silent', 'unanswered'] as const) {
      expect(judged(outcome, [by('web-node-1'), nobody('silent')])).toEqual([false, false]);
    }
  });

  it('says which cell is wrong and what was answered', () => {
    const one = expected(ALL);
    const judge = createJudge([one], CLIENT);
    judge.take(one, by('web-node-1', '100.64.0.2'));
    expect(judge.problems()).toEqual([
      'pod of the network → default: ClusterIP, Cluster, endpoints both, TCP IPv4, answered as itself: last web-node-1 as gateway router, still to come web-node-1, web-node-2',
    ]);
    expect([judge.open(), judge.quiet(), judge.timesToAsk(one)]).toEqual([[one], [], 3]);
  });
});
