import { expect, it, vi } from 'vitest';
import { remembering } from './remembering.ts';

it('makes a value once, and forgets all when there are too many', () => {
  const make = vi.fn((text: string) => text.toUpperCase());
  const upper = remembering(make, 2);
  expect(['a', 'b', 'a', 'b', 'a'].map(upper)).toEqual(['A', 'B', 'A', 'B', 'A']);
  expect(make).toHaveBeenCalledTimes(2);
  expect(['c', 'c', 'a'].map(upper)).toEqual(['C', 'C', 'A']);
  expect(make).toHaveBeenCalledTimes(4);
});
