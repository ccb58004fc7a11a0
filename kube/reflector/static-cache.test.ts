import { describe, expect, it } from 'vitest';
import { createStaticCache } from './static-cache.ts';

const cache = () =>
  createStaticCache(
    [
      ['ns/a', { color: 'red' }],
      ['ns/b', { color: 'blue' }],
    ],
    { color: ({ color }) => [color] },
  );

describe('a cache of fixed content', () => {
  it('is synced, read and indexed like a mirror', async () => {
    const colors = cache();
    await colors.whenSynced();
    expect([colors.synced, colors.size, colors.get('ns/a'), colors.has('ns/c')]).toEqual([
      true,
      2,
      { color: 'red' },
      false,
    ]);
    expect([...colors.keys()]).toEqual(['ns/a', 'ns/b']);
    expect([...colors.values()]).toEqual([{ color: 'red' }, { color: 'blue' }]);
    expect(colors.byIndex('color', 'blue')).toEqual([{ color: 'blue' }]);
    expect(() => colors.byIndex('size' as 'color', 'x')).toThrow(TypeError);
  });

  it('can be changed, and notifies its subscribers of what changed', () => {
    const colors = cache();
    const reported: unknown[] = [];
    colors.subscribe(({ type, key, after }) => reported.push([type, key, after?.color]));
    reported.length = 0;
    colors.set('ns/a', { color: 'red' });
    colors.set('ns/a', { color: 'green' });
    colors.set('ns/c', { color: 'red' });
    colors.remove('ns/b');
    colors.remove('ns/none');
    expect(reported).toEqual([
      ['updated', 'ns/a', 'green'],
      ['added', 'ns/c', 'red'],
      ['deleted', 'ns/b', undefined],
    ]);
    expect(colors.keysByIndex('color', 'red')).toEqual(['ns/c']);
  });

  it('does not hide what its users do wrong', () => {
    const colors = cache();
    expect(() =>
      colors.subscribe(() => {
        throw new Error('mine');
      }),
    ).toThrow('mine');
  });
});
