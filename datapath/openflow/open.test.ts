import { expect, it } from 'vitest';
import { parentGuard } from './open.ts';

it('long commands are guarded only where setpriv(1) is', () => {
  expect(parentGuard('/nowhere::')).toEqual([]);
  expect(parentGuard()).toSatisfy((guard: readonly string[]) => guard.length === 0 || guard[0] === 'setpriv');
});
