import { expect, it } from 'vitest';
import { podWithMachine } from './machine-pods.ts';

const pod = (key: string, second: number, isMigrated = false) => ({
  ...{ key, uid: `uid-${key}`, isMigrated },
  createdAt: `2026-01-01T00:00:0${second}Z`,
});

it.each([
  ['the only one', [pod('a', 1)], 'a'],
  ['the source, until the target is ready', [pod('a', 1), pod('b', 2)], 'a'],
  ['the target, once it is ready', [pod('a', 1), pod('b', 2, true)], 'b'],
  ['a source that was a target itself', [pod('b', 2, true), pod('c', 3)], 'b'],
  ['the last of those that it has moved to', [pod('a', 1), pod('b', 2, true), pod('c', 3, true)], 'c'],
  ['of one second, the same for all who ask', [pod('b', 1), pod('a', 1)], 'a'],
])('the machine is in %s', (_, pods, expected) => {
  for (const seen of [pods, [...pods].reverse()]) expect(podWithMachine(seen)).toBe(expected);
});
