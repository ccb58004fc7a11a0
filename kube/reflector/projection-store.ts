/** Projections by key, their indexes, and who wants to hear of changes. Synchronous: no clock, no I/O. */
import { DenseMap } from '../../base/dense-map.ts';
import { errorOf } from '../../base/error-message.ts';
import { ownText } from '../../base/own-text.ts';
import { jsonEqual } from '../json-equal.ts';
import { keyOf } from '../object-key.ts';
import type { KubeObject, ObjectKey } from '../types.ts';
import { type Entry, entryOf } from './entry.ts';
import { createIndexes, type IndexFunctions, type IndexKeys } from './indexes.ts';
import { createSubscribers } from './subscribers.ts';
import type { BadObject, ObjectCache, ReflectorObservation } from './types.ts';

export interface ProjectionStoreOptions<T, I extends string> {
  readonly project: (object: KubeObject, before?: T) => T | undefined;
  readonly equal?: ((a: T, b: T) => boolean) | undefined;
  readonly indexes?: IndexFunctions<T, I> | undefined;
  readonly observe: (observation: ReflectorObservation) => void;
}

export interface ProjectionStore<T, I extends string> extends Omit<ObjectCache<T, I>, 'synced' | 'whenSynced'> {
  /** An object as the server has it now. @returns its key */
  put(object: KubeObject): ObjectKey;
  /** Absent is success. */
  remove(key: ObjectKey): void;
  /** Removes all that is not in `keys`. */
  retain(keys: ReadonlySet<ObjectKey>): void;
  readonly bad: ReadonlyMap<ObjectKey, BadObject>;
}

export const createProjectionStore = <T, I extends string>(
  options: ProjectionStoreOptions<T, I>,
): ProjectionStore<T, I> => {
  const { project, equal = jsonEqual, observe } = options;
  const entries = new DenseMap<Entry<T>>();
  const bad = new Map<ObjectKey, BadObject>();
  const indexes = createIndexes(options.indexes);
  const subscribers = createSubscribers<T>((key, error) => observe({ kind: 'handler-failed', key, error }));
  const drop = (key: ObjectKey): void => {
    const before = entries.get(key);
    if (before === undefined) return;
    entries.delete(key);
    indexes.replace(key, before.indexKeys, undefined);
    subscribers.emit({ type: 'deleted', key, before: before.value });
  };
  const store = (givenKey: ObjectKey, next: Entry<T>): void => {
    const before = entries.get(givenKey);
    // There are many, and whoever hears of the object keeps its key.
    const key = before === undefined ? ownText(givenKey) : givenKey;
    const same = before !== undefined && equal(before.value, next.value);
    entries.set(key, same ? entryOf(before, next.resourceVersion) : next);
    if (same) return;
    indexes.replace(key, before?.indexKeys, next.indexKeys);
    if (before === undefined) subscribers.emit({ type: 'added', key, after: next.value });
    else subscribers.emit({ type: 'updated', key, before: before.value, after: next.value });
  };
  const markBad = (entry: BadObject): void => {
    bad.set(entry.key, entry);
    observe({ kind: 'bad', ...entry });
    drop(entry.key);
  };
  const markGood = (key: ObjectKey): void => {
    if (bad.delete(key)) observe({ kind: 'recovered', key });
  };

  const read = (key: ObjectKey, object: KubeObject): { value: T; indexKeys: IndexKeys } | undefined => {
    const value = project(object, entries.get(key)?.value);
    return value === undefined ? undefined : { value, indexKeys: indexes.keysOf(value, key) };
  };
  const put = (object: KubeObject): ObjectKey => {
    const key = keyOf(object);
    take(key, object);
    return key;
  };
  const take = (key: ObjectKey, object: KubeObject): void => {
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && knownVersion(entries, bad, key) === resourceVersion) return;
    let next: { value: T; indexKeys: IndexKeys } | undefined;
    try {
      next = read(key, object);
    } catch (thrown) {
      markBad({ key, resourceVersion, reason: errorOf(thrown) });
      return;
    }
    markGood(key);
    if (next === undefined) drop(key);
    else store(key, entryOf(next, resourceVersion));
  };
  const remove = (key: ObjectKey): void => {
    markGood(key);
    drop(key);
  };

  return {
    put,
    remove,
    retain: (keys) => {
      for (const key of [...entries.keys(), ...bad.keys()]) if (!keys.has(key)) remove(key);
    },
    bad,
    ...readers(entries, indexes),
    get size() {
      return entries.size;
    },
    subscribe: (handler) => subscribers.add(handler, pairsOf(entries)),
  };
};

type Entries<T> = Pick<DenseMap<Entry<T>>, 'get' | 'has' | 'keys' | 'values' | typeof Symbol.iterator>;

const knownVersion = <T>(
  entries: Entries<T>,
  bad: ReadonlyMap<ObjectKey, BadObject>,
  key: ObjectKey,
): string | undefined => entries.get(key)?.resourceVersion ?? bad.get(key)?.resourceVersion;

const readers = <T, I extends string>(
  entries: Entries<T>,
  indexes: ReturnType<typeof createIndexes<T, I>>,
): Pick<ObjectCache<T, I>, 'get' | 'has' | 'keys' | 'values' | 'entries' | 'byIndex' | 'keysByIndex'> => ({
  get: (key) => entries.get(key)?.value,
  has: (key) => entries.has(key),
  keys: () => entries.keys(),
  values: () => valuesOf(entries),
  entries: () => pairsOf(entries),
  keysByIndex: (index, indexKey) => indexes.find(index, indexKey),
  byIndex: (index, indexKey) =>
    indexes.find(index, indexKey).flatMap((key) => {
      const entry = entries.get(key);
      return entry === undefined ? [] : [entry.value];
    }),
});

function* valuesOf<T>(entries: Entries<T>): Generator<T, undefined> {
  for (const { value } of entries.values()) yield value;
}

function* pairsOf<T>(entries: Entries<T>): Generator<[ObjectKey, T], undefined> {
  for (const [key, { value }] of entries) yield [key, value];
}
