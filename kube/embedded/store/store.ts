/**
 * Objects by resource, one revision for all of them, and a window of history that watches resume from. Synchronous.
 * Objects are never changed after they are stored: readers may keep them.
 */
import type { JsonRecord } from '../../is-record.ts';
import { type Collection, createCollection } from './collection.ts';
import type { Journal, JournalChange, JournalContent, JournalEntry } from './journal.ts';

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
  /**
   * The object gets `metadata.resourceVersion` here.
   * @throws what the journal throws; then nothing has changed
   */
  put(collection: string, object: JsonRecord): Stored;
  remove(collection: string, key: string, last?: JsonRecord): Stored | undefined;
  /** Changes of one collection after `revision`, oldest first. */
  since(collection: string, revision: number): readonly StoreEvent[];
  /**
   * Takes over what an earlier store had, and the changes that its journal has as history: watches of then can go on.
   * To be called before anything else is stored; listeners are notified of everything.
   */
  restore(earlier: JournalContent | undefined): void;
  /** Called for every change, after it is stored. */
  listen(listener: StoreListener): () => void;
  /** Forgets the history. */
  compact(): void;
}

export interface StoreOptions {
  readonly firstRevision: number;
  readonly historySize: number;
  /** Gets every change before it is made. Absent: everything is gone with the process. */
  readonly journal?: Journal | undefined;
}

export const createStore = ({ firstRevision, historySize, journal }: StoreOptions): Store => {
  const { collection, state } = createCollections();
  const listeners = new Set<StoreListener>();
  let revision = firstRevision;
  let oldestRevision = firstRevision;
  let history: StoreEvent[] = [];

  const emit = (event: StoreEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const publish = (event: StoreEvent): void => {
    revision = event.revision;
    history.push(event);
    // Cut in large pieces: each costs as much as the window is long.
    if (history.length > historySize * 2) {
      history = history.slice(-historySize);
      oldestRevision = (history[0]?.revision ?? revision) - 1;
    }
    emit(event);
    if (journal?.isFull) journal.rewrite({ revision, objects: state() });
  };
  const keep = (id: string, stored: Stored): Stored => {
    const previous = collection(id).set(stored);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    publish({ type, collection: id, revision: stored.revision, stored, previous });
    return stored;
  };
  const drop = (id: string, stored: Stored): Stored => {
    const previous = collection(id).delete(stored.key);
    publish({ type: 'DELETED', collection: id, revision: stored.revision, stored, previous });
    return stored;
  };
  const enter = ({ type, collection: id, revision: at, object }: JournalEntry): void => {
    const stored = storedOf(object, at);
    if (at > revision) (type === 'put' ? keep : drop)(id, stored);
    else {
      collection(id).set(stored);
      emit({ type: 'ADDED', collection: id, revision: at, stored, previous: undefined });
    }
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
      const stored = storedOf(object, revision + 1);
      journal?.append({ type: 'put', collection: id, stored });
      return keep(id, stored);
    },
    remove: (id, key, last) => {
      const previous = collection(id).get(key);
      if (previous === undefined) return undefined;
      const stored = storedOf(last ?? previous.object, revision + 1);
      journal?.append({ type: 'removed', collection: id, stored });
      return drop(id, stored);
    },
    restore: (earlier) => {
      revision = earlier?.revision ?? revision;
      oldestRevision = revision;
      for (const entry of earlier?.entries ?? []) enter(entry);
      journal?.rewrite({ revision, objects: state() });
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

const createCollections = (): { collection: (id: string) => Collection; state: () => JournalChange[] } => {
  const collections = new Map<string, Collection>();
  return {
    collection: (id) => {
      const known = collections.get(id) ?? createCollection();
      collections.set(id, known);
      return known;
    },
    state: () =>
      [...collections].flatMap(([id, { range }]) =>
        range('').map((stored): JournalChange => ({ type: 'put', collection: id, stored })),
      ),
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
