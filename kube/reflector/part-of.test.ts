import { describe, expect, it } from 'vitest';
import { partOf } from './part-of.ts';
import { createStaticCache } from './static-cache.ts';
import type { Change } from './types.ts';

interface Whole {
  readonly paint?: { readonly color: string } | undefined;
  readonly shape: string;
}

const RED = { color: 'red' };

const caches = () => {
  const wholes = createStaticCache<Whole, 'shape'>(
    [
      ['ns/a', { paint: RED, shape: 'round' }],
      ['ns/b', { shape: 'round' }],
    ],
    { shape: ({ shape }) => [shape] },
  );
  const paints = partOf(wholes, ({ paint }) => paint);
  return { wholes, paints };
};

const heard = () => {
  const changes: string[] = [];
  const hear = ({ type, key, before, after }: Change<{ color: string }>): number =>
    changes.push(`${type} ${key} ${before?.color ?? '-'} ${after?.color ?? '-'}`);
  return { changes, hear: (change: Change<{ color: string }>) => void hear(change) };
};

describe('a part of a cache', () => {
  it('has the objects that have the part, and is synced as the whole is', async () => {
    const { paints } = caches();
    await paints.whenSynced();
    expect([paints.synced, paints.size, paints.get('ns/a'), paints.get('ns/b')]).toEqual([true, 1, RED, undefined]);
    expect([paints.has('ns/a'), paints.has('ns/b'), paints.has('ns/c')]).toEqual([true, false, false]);
    expect([...paints.keys(), ...paints.values(), ...paints.entries()]).toEqual(['ns/a', RED, ['ns/a', RED]]);
    expect([paints.byIndex('shape', 'round'), paints.keysByIndex('shape', 'round')]).toEqual([[RED], ['ns/a']]);
  });

  it('replays what is there, and then only changes of the part', () => {
    const { wholes, paints } = caches();
    const { changes, hear } = heard();
    const stop = paints.subscribe(hear);
    wholes.set('ns/a', { paint: RED, shape: 'square' });
    wholes.set('ns/a', { paint: { color: 'blue' }, shape: 'square' });
    wholes.set('ns/b', { paint: RED, shape: 'round' });
    wholes.set('ns/a', { shape: 'square' });
    wholes.remove('ns/b');
    wholes.remove('ns/a');
    stop();
    wholes.set('ns/d', { paint: RED, shape: 'round' });
    expect(changes).toEqual([
      'added ns/a - red',
      'updated ns/a red blue',
      'added ns/b - red',
      'deleted ns/a blue -',
      'deleted ns/b red -',
    ]);
  });

  it('asks whether a part is as it was, where it is another object each time', () => {
    const { wholes } = caches();
    const paints = partOf(
      wholes,
      ({ paint }) => paint,
      (a, b) => a.color === b.color,
    );
    const { changes, hear } = heard();
    paints.subscribe(hear);
    wholes.set('ns/a', { paint: { color: 'red' }, shape: 'square' });
    expect(changes).toEqual(['added ns/a - red']);
  });
});
