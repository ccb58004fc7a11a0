import { expect, it, vi } from 'vitest';
import { parseWildcardName } from '../../net/domain-name.ts';
import { type WildcardUser, WildcardUses } from './wildcard-uses.ts';

const user = (isTenant: boolean, ...names: string[]): WildcardUser => ({
  regarding: { apiVersion: 'v1', kind: 'Test', name: 'n', namespace: undefined, uid: undefined },
  isTenant,
  wildcards: names.map((name) => parseWildcardName(`*.${name}.example`)),
});
const chosen = (uses: WildcardUses): string[] =>
  [...uses.chosen().values()].map((name) => name.split('.')[1] ?? '').sort();

it('have room by who names the fewest, tenants and administrators apart', () => {
  const uses = new WildcardUses(3);
  uses.set('big', user(true, 'a', 'b', 'c'));
  expect(chosen(uses)).toEqual(['a', 'b', 'c']);
  uses.set('small', user(true, 'x'));
  uses.set('middle', user(true, 'x', 'y'));
  uses.set('admin', user(false, 'p', 'q', 'r', 's'));
  expect(chosen(uses)).toEqual(['a', 'p', 'q', 'r', 'x', 'y']);
  uses.set('small', undefined);
  uses.set('middle', undefined);
  expect(chosen(uses)).toEqual(['a', 'b', 'c', 'p', 'q', 'r']);
});

it('tell of a change, and not of those who name none', () => {
  const uses = new WildcardUses();
  const listener = vi.fn();
  const end = uses.onChange(listener);
  uses.set('none', user(true));
  uses.set('none', undefined);
  expect(listener).not.toHaveBeenCalled();
  uses.set('one', user(true, 'a'));
  uses.set('one', user(true));
  expect(listener).toHaveBeenCalledTimes(2);
  expect([chosen(uses), [...uses.users()]]).toEqual([[], []]);
  end();
  uses.set('one', user(true, 'a'));
  expect(listener).toHaveBeenCalledTimes(2);
});
