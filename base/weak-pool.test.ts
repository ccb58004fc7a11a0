import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { WeakPool } from './weak-pool.ts';

const pool = () => new WeakPool<readonly string[]>((a, b) => a.join() === b.join());

it('has one object for all that are equal', () => {
  const values = pool();
  const first = values.one(['a', 'b'], 'a,b');
  expect(values.one(['a', 'b'], 'a,b')).toBe(first);
  expect(values.one(['a', 'c'], 'a,c')).toEqual(['a', 'c']);
  expect(values.size).toBe(2);
});

it('takes no text for another value that has it, too', () => {
  const values = pool();
  values.one(['a'], 'x');
  expect(values.one(['b'], 'x')).toEqual(['b']);
});

it('forgets what nobody holds', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const values = pool();
  for (let index = 0; index < 1_000; index++) values.one([String(index)], String(index));
  await vi.waitFor(
    () => {
      gc();
      expect(values.size).toBeLessThan(10);
    },
    { timeout: 5_000 },
  );
});
