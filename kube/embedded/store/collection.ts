/** The objects of one resource, in the order of their keys. */
import type { Stored } from './store.ts';

export interface Collection {
  readonly size: number;
  get(key: string): Stored | undefined;
  /** @returns what was there before */
  set(stored: Stored): Stored | undefined;
  delete(key: string): Stored | undefined;
  /** In order, of one namespace or of all (`''`), beginning after `after`. */
  range(namespace: string, after?: string): Stored[];
}

export const createCollection = (): Collection => {
  const objects = new Map<string, Stored>();
  /** Sorted; a new key is put in its place, which moves memory but compares little. */
  const keys: string[] = [];
  return {
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(key),
    set: (stored) => {
      const previous = objects.get(stored.key);
      if (previous === undefined) keys.splice(position(keys, stored.key), 0, stored.key);
      objects.set(stored.key, stored);
      return previous;
    },
    delete: (key) => {
      const previous = objects.get(key);
      if (previous === undefined) return undefined;
      objects.delete(key);
      keys.splice(position(keys, key), 1);
      return previous;
    },
    range: (namespace, after = '') => {
      const prefix = namespace === '' ? '' : `${namespace}/`;
      let at = position(keys, after > prefix ? `${after}\0` : prefix);
      const found: Stored[] = [];
      for (; at < keys.length && keys[at]?.startsWith(prefix); at += 1) {
        const stored = objects.get(keys[at] ?? '');
        if (stored !== undefined) found.push(stored);
      }
      return found;
    },
  };
};

/** Where `key` is or would be. */
const position = (keys: readonly string[], key: string): number => {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
};
