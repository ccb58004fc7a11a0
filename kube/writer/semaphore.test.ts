import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSemaphore } from './semaphore.ts';

it('lets so many run at once, and goes round the lanes of those that wait', async () => {
  const semaphore = createSemaphore(2);
  const log: string[] = [];
  const gates: (() => void)[] = [];
  const task = (name: string) => async (): Promise<void> => {
    log.push(name);
    await new Promise<void>((resolve) => gates.push(resolve));
  };
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'].map((name) => semaphore.run(name[0] ?? '', task(name)));
  await turn();
  expect(log).toEqual(['a1', 'a2']);
  for (let n = 0; n < 6; n += 1) {
    gates.shift()?.();
    await turn();
  }
  await Promise.all(all);
  expect(log).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4']);
});

it('lets no more of a lane run than it may, also when there is room', async () => {
  const semaphore = createSemaphore(4, (lane) => (lane === 'a' ? 1 : 4));
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const run = (name: string): Promise<void> =>
    semaphore.run(name[0] ?? '', async () => {
      log.push(name);
      await new Promise<void>((resolve) => gates.set(name, resolve));
    });
  const all = ['a1', 'a2', 'b1', 'b2', 'b3', 'b4'].map(run);
  await turn();
  expect(log).toEqual(['a1', 'b1', 'b2', 'b3']);
  gates.get('b1')?.();
  await turn();
  expect(log.at(-1)).toBe('b4');
  gates.get('b2')?.();
  await turn();
  expect(log).toHaveLength(5);
  gates.get('a1')?.();
  await turn();
  expect(log.at(-1)).toBe('a2');
  for (const open of gates.values()) open();
  await Promise.all(all);
});

it('goes on after a failure', async () => {
  const semaphore = createSemaphore(1);
  const failed = semaphore.run('a', () => Promise.reject(new Error('broken')));
  const next = semaphore.run('a', () => Promise.resolve('well'));
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('well');
});
