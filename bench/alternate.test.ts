import { expect, it } from 'vitest';
import { alternate, takeTurns } from './alternate.ts';

const record = (seen: string[], name: string) => (round: number) => {
  seen.push(`${name}${round}`);
  return Promise.resolve(round);
};

it('takes turns, and does not count the first rounds', async () => {
  const seen: string[] = [];
  const rounds = { rounds: 2, warmUp: 1, signal: new AbortController().signal };
  const samples = await alternate(rounds, record(seen, 'a'), record(seen, 'b'));
  expect(seen).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2']);
  expect(samples).toEqual({ values: [1, 2], references: [1, 2] });
});

it('goes on with the numbers of the rounds in later runs, and does not warm up again', async () => {
  const seen: string[] = [];
  const rounds = { rounds: 2, warmUp: 1, run: 1, signal: new AbortController().signal };
  const samples = await alternate(rounds, record(seen, 'a'), record(seen, 'b'));
  expect(seen).toEqual(['b3', 'a3', 'a4', 'b4']);
  expect(samples).toEqual({ values: [3, 4], references: [3, 4] });
});

it('has each of three be first in turn', async () => {
  const seen: string[] = [];
  const rounds = { rounds: 4, signal: new AbortController().signal };
  const turns = { a: record(seen, 'a'), b: record(seen, 'b'), c: record(seen, 'c') };
  expect(await takeTurns(rounds, turns)).toEqual({ a: [0, 1, 2, 3], b: [0, 1, 2, 3], c: [0, 1, 2, 3] });
  expect(seen.join(' ')).toBe('a0 b0 c0 b1 c1 a1 c2 a2 b2 a3 b3 c3');
});

it('ends with the signal', async () => {
  const seen: string[] = [];
  const stop = new AbortController();
  const stopping = async (round: number): Promise<number> => {
    if (round === 1) stop.abort(new Error('stopped'));
    return await record(seen, 'a')(round);
  };
  await expect(alternate({ rounds: 9, signal: stop.signal }, stopping, record(seen, 'b'))).rejects.toThrow('stopped');
  expect(seen).toEqual(['a0', 'b0', 'b1', 'a1']);
});
