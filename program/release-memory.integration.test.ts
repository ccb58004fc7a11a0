import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { releaseMemory } from './release-memory.ts';

const ADDON = new URL('../build/memory.node', import.meta.url).pathname;

const rssMib = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;

it('gives back what is not used any more', async () => {
  let garbage: unknown[] | undefined = Array.from({ length: 2_000_000 }, (_, index) => ({ index }));
  expect(garbage).toHaveLength(2_000_000);
  const before = rssMib();
  garbage = undefined;
  await releaseMemory(ADDON);
  expect(rssMib()).toBeLessThan(before - 50);
  expect(globalThis).not.toHaveProperty('gc');
});
