/** An ObjectCache of fixed content: for tests and for programs that read files instead of an API server. */
import type { KubeObject, ObjectKey } from '../types.ts';
import type { IndexFunctions } from './indexes.ts';
import { createProjectionStore } from './projection-store.ts';
import type { ObjectCache } from './types.ts';

export interface StaticCache<T, I extends string = never> extends ObjectCache<T, I> {
  /** Adds or replaces; subscribers hear of it unless nothing changed. */
  set(key: ObjectKey, value: T): void;
  remove(key: ObjectKey): void;
}

/** Synced from the start. */
export const createStaticCache = <T, I extends string = never>(
  content: Iterable<readonly [ObjectKey, T]> = [],
  indexes?: IndexFunctions<T, I>,
): StaticCache<T, I> => {
  const values = new Map<string, T>();
  const store = createProjectionStore<T, I>({
    project: (object) => values.get(object.metadata.uid),
    indexes,
    observe: (observation) => {
      if (observation.kind === 'bad') throw observation.reason;
      if (observation.kind === 'handler-failed') throw observation.error;
    },
  });
  let version = 0;
  const set = (key: ObjectKey, value: T): void => {
    version += 1;
    values.set(key, value);
    store.put(carrier(key, version));
  };
  for (const [key, value] of content) set(key, value);
  return {
    get: store.get,
    has: store.has,
    keys: store.keys,
    values: store.values,
    entries: store.entries,
    byIndex: store.byIndex,
    keysByIndex: store.keysByIndex,
    subscribe: store.subscribe,
    get size() {
      return store.size;
    },
    synced: true,
    whenSynced: () => Promise.resolve(),
    set,
    remove: (key) => {
      values.delete(key);
      store.remove(key);
    },
  };
};

/** The store wants objects: one that carries the key. */
const carrier = (key: ObjectKey, version: number): KubeObject => ({
  metadata: { name: key, uid: key, resourceVersion: String(version) },
});
