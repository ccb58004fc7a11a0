/** Deletes objects whose owners are gone (Kubernetes, "Garbage collection"): background, foreground and orphaning. */
import type { JsonRecord } from '../../is-record.ts';
import type { ServerContext } from '../context.ts';
import type { Stored, StoreEvent } from '../store/store.ts';
import { DELETE_NOW, deleteObject, FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../verbs/delete.ts';
import { finalizersOf, metadataOf, withMetadata } from '../verbs/metadata.ts';
import { createOwnerIndex, type ObjectAddress, type Owner, type OwnerIndex, ownersOf } from './owners.ts';
import { rewrite } from './rewrite.ts';
import type { Worker } from './worker.ts';

export const startGarbageCollector = (context: ServerContext, worker: Worker): (() => void) => {
  const index = createOwnerIndex();
  const check = (address: ObjectAddress): void =>
    worker.add(`gc ${address.collection} ${address.key}`, () => collect(context, index, address));
  return context.store.listen((event) => {
    index.take(event);
    for (const address of affected(index, event)) check(address);
  });
};

/** Whose fate an event may change. */
const affected = (index: OwnerIndex, { type, collection, stored }: StoreEvent): ObjectAddress[] => {
  const owners = ownersOf(stored.object);
  if (type === 'DELETED') {
    // Owners that wait for their dependents, and dependents that have lost an owner.
    return [...owners.flatMap(({ uid }) => index.find(uid) ?? []), ...index.dependents(stored.uid)];
  }
  const isWaiting =
    metadataOf(stored.object)['deletionTimestamp'] !== undefined && finalizersOf(stored.object).length > 0;
  return owners.length > 0 || isWaiting ? [{ collection, key: stored.key }] : [];
};

const collect = (context: ServerContext, index: OwnerIndex, address: ObjectAddress): void => {
  const stored = context.store.collection(address.collection).get(address.key);
  if (stored === undefined) return;
  if (metadataOf(stored.object)['deletionTimestamp'] === undefined) collectUnowned(context, index, address, stored);
  else if (finalizersOf(stored.object).includes(ORPHAN_FINALIZER)) orphan(context, index, address, stored);
  else if (finalizersOf(stored.object).includes(FOREGROUND_FINALIZER)) foreground(context, index, address, stored);
};

const collectUnowned = (context: ServerContext, index: OwnerIndex, address: ObjectAddress, stored: Stored): void => {
  const owners = ownersOf(stored.object);
  if (owners.length === 0) return;
  const gone = owners.filter((owner) => !isThere(context, index, owner, stored.namespace));
  if (gone.length === owners.length) remove(context, address, stored);
  else if (gone.length > 0) dropOwners(context, address, gone);
};

/** An owner of a kind that is not served can't be evaluated: it counts as there. */
const isThere = ({ registry, store }: ServerContext, index: OwnerIndex, owner: Owner, namespace: string): boolean => {
  const definition = registry.ofKind(owner.apiVersion, owner.kind);
  if (definition === undefined) return true;
  const address = index.find(owner.uid);
  if (address === undefined || address.collection !== definition.collection) return false;
  const stored = store.collection(address.collection).get(address.key);
  // An owner in another namespace is none.
  return stored !== undefined && (stored.namespace === '' || stored.namespace === namespace);
};

const remove = (context: ServerContext, { collection }: ObjectAddress, { namespace, name, uid }: Stored): void => {
  const definition = context.registry.ofCollection(collection);
  if (definition !== undefined) deleteObject(context, { definition, namespace, name, options: { ...DELETE_NOW, uid } });
};

const dropOwners = (context: ServerContext, address: ObjectAddress, gone: readonly Owner[]): void => {
  const uids = new Set(gone.map(({ uid }) => uid));
  rewrite(context, address, (object) => withoutOwners(object, uids));
};

const withoutOwners = (object: JsonRecord, uids: ReadonlySet<string>): JsonRecord => {
  const references = metadataOf(object)['ownerReferences'];
  const kept = Array.isArray(references) ? references.filter(({ uid }) => !uids.has(String(uid))) : [];
  return withMetadata(object, { ownerReferences: kept.length === 0 ? undefined : kept });
};

const orphan = (context: ServerContext, index: OwnerIndex, address: ObjectAddress, stored: Stored): void => {
  const uids = new Set([stored.uid]);
  for (const dependent of index.dependents(stored.uid)) {
    rewrite(context, dependent, (object) => withoutOwners(object, uids));
  }
  dropFinalizer(context, address, ORPHAN_FINALIZER);
};

const foreground = (context: ServerContext, index: OwnerIndex, address: ObjectAddress, stored: Stored): void => {
  const dependents = index.dependents(stored.uid).flatMap((dependent) => {
    const object = context.store.collection(dependent.collection).get(dependent.key);
    return object === undefined ? [] : [{ dependent, object }];
  });
  const blocking = dependents.filter(({ object }) =>
    ownersOf(object.object).some(({ uid, blockOwnerDeletion }) => uid === stored.uid && blockOwnerDeletion),
  );
  if (blocking.length === 0) dropFinalizer(context, address, FOREGROUND_FINALIZER);
  for (const { dependent, object } of dependents) {
    if (metadataOf(object.object)['deletionTimestamp'] === undefined) remove(context, dependent, object);
  }
};

const dropFinalizer = (context: ServerContext, address: ObjectAddress, finalizer: string): void =>
  rewrite(context, address, (object) => {
    const finalizers = finalizersOf(object).filter((other) => other !== finalizer);
    return withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : finalizers });
  });
