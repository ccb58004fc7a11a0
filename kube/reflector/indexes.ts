/** Object keys by what functions say about the objects. */
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
  const maps = new Map(declared.map(([name]) => [name, new Map<string, Set<ObjectKey>>()]));
  return {
    // Kept with every object: most are in few of the indexes.
    keysOf: (value, key) =>
      declared.flatMap(([name, keysOf]): IndexKeys => {
        const keys = [...new Set(keysOf(value, key))];
        return keys.length === 0 ? [] : [[name, keys]];
      }),
    replace: (key, before, after) => {
      for (const [name, keys] of before ?? []) for (const indexKey of keys) leave(maps.get(name), indexKey, key);
      for (const [name, keys] of after ?? []) for (const indexKey of keys) enter(maps.get(name), indexKey, key);
    },
    find: (index, indexKey) => {
      const map = maps.get(index);
      if (map === undefined) throw new TypeError(`no index "${index}" is declared`);
      return [...(map.get(indexKey) ?? [])];
    },
  };
};

const enter = (map: Map<string, Set<ObjectKey>> | undefined, indexKey: string, key: ObjectKey): void => {
  const keys = map?.get(indexKey);
  if (keys === undefined) map?.set(indexKey, new Set([key]));
  else keys.add(key);
};

const leave = (map: Map<string, Set<ObjectKey>> | undefined, indexKey: string, key: ObjectKey): void => {
  const keys = map?.get(indexKey);
  keys?.delete(key);
  if (keys?.size === 0) map?.delete(indexKey);
};
