import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { POLICY_BURST, POLICY_PACE_MS, PolicyPace } from './policy-pace.ts';

const setUp = () => {
  const clock = createFakeClock();
  const failures: string[] = [];
  const onFailure = (key: string, error: unknown): void => void failures.push(`${key}: ${error}`);
  const pace = new PolicyPace({ clock, onFailure });
  const made: string[] = [];
  const make = (key: string, text = key): void => pace.make(key, () => made.push(`${text} at ${clock.monotonic()}`));
  const remove = (key: string): void => pace.make(key, () => made.push(`-${key} at ${clock.monotonic()}`), true);
  const fail = (key: string): void =>
    pace.make(key, () => {
      throw new Error('bad');
    });
  /** A turn of the event loop each. */
  const burst = async (): Promise<void> => {
    for (let at = 0; at < POLICY_BURST; at += 1) {
      make(`burst ${at}`);
      await clock.advance(0);
    }
    made.length = 0;
  };
  return { clock, pace, made, make, remove, fail, burst, failures };
};

it('lets the first lead, and collects a long row ten times a second', async () => {
  const { clock, made, make } = setUp();
  for (let at = 0; at < 200; at += 1) {
    make(`p${at}`);
    await clock.advance(10);
  }
  await clock.advance(1_000);
  const times = [...new Set(made.map((text) => Number(text.split(' at ')[1])))];
  expect([made.length, times.slice(0, POLICY_BURST), clock.pending]).toEqual([200, [0, 10, 20, 30, 40, 50, 60, 70], 0]);
  expect(times.length).toBeLessThanOrEqual(POLICY_BURST + 2_000 / POLICY_PACE_MS + 1);
  expect(Math.max(...times.slice(1).map((time, at) => time - (times[at] ?? 0)))).toBeLessThanOrEqual(
    POLICY_PACE_MS + 10,
  );
  make('alone');
  expect(made.at(-1)).toBe(`alone at ${clock.monotonic()}`);
});

it('never splits the changes of one turn', async () => {
  const { clock, made, make, burst } = setUp();
  for (let at = 0; at < 3 * POLICY_BURST; at += 1) make(`p${at}`);
  expect(made).toHaveLength(3 * POLICY_BURST);
  await burst();
  // One turn has counted as one.
  make('a');
  make('b');
  expect(made).toEqual([]);
  await clock.advance(POLICY_PACE_MS);
  expect(made).toEqual(['a at 100', 'b at 100']);
});

it('makes a deletion after its time, whatever comes meanwhile', async () => {
  const { clock, pace, made, make, remove } = setUp();
  make('a');
  remove('b');
  await clock.advance(50);
  remove('c');
  make('d');
  pace.release();
  expect(made).toEqual(['a at 0', 'd at 50']);
  await clock.advance(50);
  expect(made.slice(2)).toEqual(['-b at 100']);
  await clock.advance(POLICY_PACE_MS);
  expect([made.slice(3), clock.pending]).toEqual([['-c at 200'], 0]);
});

it('has a policy that is deleted and created again never away', async () => {
  const { clock, made, make, remove } = setUp();
  for (const key of ['a', 'b']) remove(key);
  await clock.advance(10);
  for (const key of ['a', 'b']) make(key);
  await clock.advance(1_000);
  expect([made, clock.pending]).toEqual([['a at 10', 'b at 10'], 0]);
});

it('makes the last change of an object', async () => {
  const { clock, made, make, burst } = setUp();
  await burst();
  make('a', 'a');
  make('b');
  make('a', 'a again');
  await clock.advance(POLICY_PACE_MS);
  expect(made).toEqual(['a again at 100', 'b at 100']);
});

it('makes what is held when somebody cannot wait, and reports what one of them throws', async () => {
  const { clock, pace, made, make, fail, burst, failures } = setUp();
  await burst();
  fail('bad');
  make('a');
  pace.release();
  expect([made, failures, clock.pending]).toEqual([['a at 0'], ['bad: Error: bad'], 0]);
  expect(() => setUp().fail('bad')).toThrow('bad');
});

it('holds nothing without a clock, and forgets what is held when it ends', async () => {
  const made: string[] = [];
  const pace = new PolicyPace({ clock: undefined, onFailure: () => undefined });
  for (const key of ['a', 'b']) pace.make(key, () => made.push(key), true);
  expect(made).toEqual(['a', 'b']);
  const ended = setUp();
  ended.remove('a');
  ended.pace.stop();
  await ended.clock.advance(1_000);
  expect([ended.made, ended.clock.pending]).toEqual([[], 0]);
});
