/**
 * Objects by resource, one revision for all of them, and a window of history that watches resume from. Synchronous.
 * Objects are never changed after they are stored: readers may keep them.
 */
import type { JsonRecord } from '../../is-record.ts';
import { type Collection, createCollection } from './collection.ts';

/** One version of one object. */
export interface Stored {
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly object: JsonRecord;
}

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Which collection, as given to `collection`. */
  readonly collection: string;
  readonly revision: number;
  /** After the change; of a deletion the last state, with the deletion's revision. */
  readonly stored: Stored;
  /** Before the change. */
  readonly previous: Stored | undefined;
}

export type StoreListener = (event: StoreEvent) => void;

export interface Store {
  /** Of the last change. */
  readonly revision: number;
  /** Watches can't start before this one. */
  readonly oldestRevision: number;
  collection(id: string): Collection;
  /** The object gets `metadata.resourceVersion` here. */
  put(collection: string, object: JsonRecord): Stored;
  remove(collection: string, key: string, last?: JsonRecord): Stored | undefined;
  /** Changes of one collection after `revision`, oldest first. */
  since(collection: string, revision: number): readonly StoreEvent[];
  /** Called for every change, after it is stored. */
  listen(listener: StoreListener): () => void;
  /** Forgets the history. */
  compact(): void;
}

export interface StoreOptions {
  readonly firstRevision: number;
  readonly historySize: number;
}

export const createStore = ({ firstRevision, historySize }: StoreOptions): Store => {
  const collections = new Map<string, Collection>();
  const listeners = new Set<StoreListener>();
  let revision = firstRevision;
  let oldestRevision = firstRevision;
  let history: StoreEvent[] = [];

  const collection = (id: string): Collection => {
    const known = collections.get(id) ?? createCollection();
    collections.set(id, known);
    return known;
  };
  const publish = (event: StoreEvent): void => {
    history.push(event);
    // Cut in large pieces: each costs as much as the window is long.
    if (history.length > historySize * 2) {
      history = history.slice(-historySize);
      oldestRevision = (history[0]?.revision ?? revision) - 1;
    }
    for (const listener of listeners) listener(event);
  };
  return {
    get revision() {
      return revision;
    },
    get oldestRevision() {
      return oldestRevision;
    },
    collection,
    put: (id, object) => {
      revision += 1;
      const stored = storedOf(object, revision);
      const previous = collection(id).set(stored);
      publish({ type: previous === undefined ? 'ADDED' : 'MODIFIED', collection: id, revision, stored, previous });
      return stored;
    },
    remove: (id, key, last) => {
      const previous = collection(id).delete(key);
      if (previous === undefined) return undefined;
      revision += 1;
      const stored = storedOf(last ?? previous.object, revision);
      publish({ type: 'DELETED', collection: id, revision, stored, previous });
      return stored;
    },
    since: (id, from) => history.slice(firstAfter(history, from)).filter((event) => event.collection === id),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    compact: () => {
      history = [];
      oldestRevision = revision;
    },
  };
};

/** By bisection: revisions grow. */
const firstAfter = (history: readonly StoreEvent[], revision: number): number => {
  let [low, high] = [0, history.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((history[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
};

const storedOf = (object: JsonRecord, revision: number): Stored => {
  const metadata = object['metadata'] as JsonRecord;
  const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : '';
  const name = String(metadata['name']);
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    namespace,
    name,
    uid: String(metadata['uid']),
    revision,
    object: { ...object, metadata: { ...metadata, resourceVersion: String(revision) } },
  };
};
