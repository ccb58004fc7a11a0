/** Who owns whom, by uid, kept up to date by the store's events. */
import { type JsonRecord, recordOr } from '../../is-record.ts';
import type { Stored, StoreEvent } from '../store/store.ts';

export interface ObjectAddress {
  readonly collection: string;
  readonly key: string;
}

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion: boolean;
}

export interface OwnerIndex {
  take(event: StoreEvent): void;
  find(uid: string): ObjectAddress | undefined;
  dependents(uid: string): readonly ObjectAddress[];
}

export const ownersOf = (object: JsonRecord): Owner[] => {
  const references = recordOr(object['metadata'])['ownerReferences'];
  if (!Array.isArray(references)) return [];
  return references.map(recordOr).map(({ apiVersion, kind, name, uid, blockOwnerDeletion }) => ({
    apiVersion: String(apiVersion),
    kind: String(kind),
    name: String(name),
    uid: String(uid),
    blockOwnerDeletion: blockOwnerDeletion === true,
  }));
};

export const createOwnerIndex = (): OwnerIndex => {
  const objects = new Map<string, ObjectAddress>();
  const dependents = new Map<string, Map<string, ObjectAddress>>();
  const forget = (stored: Stored): void => {
    for (const { uid } of ownersOf(stored.object)) {
      const own = dependents.get(uid);
      own?.delete(stored.uid);
      if (own?.size === 0) dependents.delete(uid);
    }
  };
  return {
    take: ({ type, collection, stored, previous }) => {
      if (previous !== undefined) forget(previous);
      if (type === 'DELETED') {
        objects.delete(stored.uid);
        return;
      }
      const address = { collection, key: stored.key };
      objects.set(stored.uid, address);
      for (const { uid } of ownersOf(stored.object)) {
        const own = dependents.get(uid) ?? new Map<string, ObjectAddress>();
        dependents.set(uid, own.set(stored.uid, address));
      }
    },
    find: (uid) => objects.get(uid),
    dependents: (uid) => [...(dependents.get(uid)?.values() ?? [])],
  };
};
