/** Object keys by what functions say about the objects. */
import { MultiMap } from '../../base/multi-map.ts';
import type { ObjectKey } from '../types.ts';

export type IndexFunctions<T, I extends string> = Readonly<Record<I, (value: T, key: ObjectKey) => readonly string[]>>;

/** Per index, under which keys one object is. */
export type IndexKeys = readonly (readonly [index: string, keys: readonly string[]])[];

export interface Indexes<T, I extends string> {
  /** Throws what an index function throws. */
  keysOf(value: T, key: ObjectKey): IndexKeys;
  replace(key: ObjectKey, before: IndexKeys | undefined, after: IndexKeys | undefined): void;
  find(index: I, indexKey: string): readonly ObjectKey[];
}

export const createIndexes = <T, I extends string>(functions: IndexFunctions<T, I> | undefined): Indexes<T, I> => {
  const declared: [string, (value: T, key: ObjectKey) => readonly string[]][] = Object.entries(functions ?? {});
  const maps = new Map(declared.map(([name]) => [name, new MultiMap<ObjectKey>()]));
  return {
    // Kept with every object: most are in few of the indexes, or in none.
    keysOf: (value, key) => {
      const found = declared.flatMap(([name, keysOf]): IndexKeys => {
        const keys = [...new Set(keysOf(value, key))];
        return keys.length === 0 ? [] : [[name, keys]];
      });
      return found.length === 0 ? NO_KEYS : found;
    },
    replace: (key, before, after) => {
      for (const [name, keys] of before ?? []) for (const indexKey of keys) maps.get(name)?.delete(indexKey, key);
      for (const [name, keys] of after ?? []) for (const indexKey of keys) maps.get(name)?.add(indexKey, key);
    },
    find: (index, indexKey) => {
      const map = maps.get(index);
      if (map === undefined) throw new TypeError(`no index "${index}" is declared`);
      return [...map.get(indexKey)];
    },
  };
};

export const NO_KEYS: IndexKeys = [];
