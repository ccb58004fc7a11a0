import { expect, it } from 'vitest';
import { memo } from './memo.ts';

it('asks once for each text, until there are too many', () => {
  const asked: string[] = [];
  const length = memo((text) => {
    asked.push(text);
    return text.length;
  }, 2);
  expect(['a', 'bb', 'a', 'bb'].map(length)).toEqual([1, 2, 1, 2]);
  expect(asked).toEqual(['a', 'bb']);
  expect(['ccc', 'a'].map(length)).toEqual([3, 1]);
  expect(asked).toEqual(['a', 'bb', 'ccc', 'a']);
});

it('remembers no failure', () => {
  let fails = true;
  const once = memo((text) => {
    if (fails) throw new Error(text);
    return text;
  });
  expect(() => once('a')).toThrow('a');
  fails = false;
  expect(once('a')).toBe('a');
});
