/** A cache of one part of what another one holds: whoever reads it hears of nothing else, and one mirror serves readers of several parts. */
import type { Change, ObjectCache } from './types.ts';

/**
 * @param pick undefined: the object has no such part, and is not there for these readers
 * @param equal whether a part is as it was; a projection that keeps a part that is equal as the same object needs no other
 */
export const partOf = <Whole, Part, I extends string = never>(
  cache: ObjectCache<Whole, I>,
  pick: (whole: Whole) => Part | undefined,
  equal: (a: Part, b: Part) => boolean = Object.is,
): ObjectCache<Part, I> => {
  const get = (key: string): Part | undefined => partIn(cache.get(key), pick);
  const entries = function* (): Generator<[string, Part], undefined> {
    for (const [key, whole] of cache.entries()) {
      const part = pick(whole);
      if (part !== undefined) yield [key, part];
    }
  };
  return {
    get,
    has: (key) => get(key) !== undefined,
    keys: () => entries().map(([key]) => key),
    values: () => entries().map(([, part]) => part),
    entries,
    /** It costs a walk. */
    get size() {
      return entries().reduce((count) => count + 1, 0);
    },
    byIndex: (index, indexKey) => cache.byIndex(index, indexKey).flatMap((whole) => pick(whole) ?? []) as Part[],
    keysByIndex: (index, indexKey) => cache.keysByIndex(index, indexKey).filter((key) => get(key) !== undefined),
    subscribe: (handler) =>
      cache.subscribe(({ key, before, after }) => {
        const change = changeOf(key, partIn(before, pick), partIn(after, pick), equal);
        if (change !== undefined) handler(change);
      }),
    get synced() {
      return cache.synced;
    },
    whenSynced: (signal) => cache.whenSynced(signal),
  };
};

const partIn = <Whole, Part>(whole: Whole | undefined, pick: (whole: Whole) => Part | undefined): Part | undefined =>
  whole === undefined ? undefined : pick(whole);

const changeOf = <Part>(
  key: string,
  before: Part | undefined,
  after: Part | undefined,
  equal: (a: Part, b: Part) => boolean,
): Change<Part> | undefined => {
  if (before === undefined) return after === undefined ? undefined : { type: 'added', key, after };
  if (after === undefined) return { type: 'deleted', key, before };
  return equal(before, after) ? undefined : { type: 'updated', key, before, after };
};
