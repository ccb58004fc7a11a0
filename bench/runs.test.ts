import { expect, it } from 'vitest';
import { benchResult } from './report/result.ts';
import { eachRun, type Runs } from './runs.ts';

const result = (value: number) => benchResult({ name: 'a', value, unit: 'ms', reference: 1, rounds: 1 });

const runs = (count: number): Runs & { failures: string[]; stop: AbortController } => {
  const [failures, stop] = [[] as string[], new AbortController()];
  return { count, signal: stop.signal, onFailure: (message) => failures.push(message), failures, stop };
};

it('measures as often as there are runs, and shows the median beside all', async () => {
  expect(await eachRun(runs(3), async (run) => [result([30, 10, 20][run] ?? 0)])).toEqual([
    { ...result(20), ratios: [10, 20, 30] },
  ]);
});

it('shows no ratios of a single run', async () => {
  expect(await eachRun(runs(1), async () => [result(5)])).toEqual([result(5)]);
});

it('keeps the results of the runs before the one that failed', async () => {
  const three = runs(3);
  const measured: number[] = [];
  const results = await eachRun(three, async (run) => {
    measured.push(run);
    if (run === 1) throw new Error('broken');
    return [result(5)];
  });
  expect(results).toEqual([{ ...result(5), ratios: [5] }]);
  expect(measured).toEqual([0, 1]);
  expect(three.failures).toEqual([expect.stringMatching(/^run 2 of 3: Error: broken/)]);
});

it('fails when the first run does, or when it is stopped', async () => {
  const failing = async () => await Promise.reject<never>(new Error('broken'));
  await expect(eachRun(runs(3), failing)).rejects.toThrow('broken');
  const stopped = runs(3);
  const stopping = async (run: number) => {
    if (run === 1) stopped.stop.abort(new Error('stopped'));
    return [result(5)];
  };
  await expect(eachRun(stopped, stopping)).rejects.toThrow('stopped');
});
