/** Serves what CRDs describe, says so in their status, and cleans up when they go. */
import { type JsonRecord, recordOr } from '../../is-record.ts';
import { jsonEqual } from '../../json-equal.ts';
import { type ServerContext, timestamp } from '../context.ts';
import { rewrite } from '../controllers/rewrite.ts';
import type { Worker } from '../controllers/worker.ts';
import { CRD_FINALIZER } from '../definitions/strategies/crd.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import type { Stored, StoreEvent } from '../store/store.ts';
import { DELETE_NOW, deleteObject } from '../verbs/delete.ts';
import { finalizersOf, metadataOf, withFinalizers } from '../verbs/metadata.ts';
import { collectionOf, definitionsOf } from './definition-of.ts';

export const CRD_COLLECTION = 'apiextensions.k8s.io/customresourcedefinitions';

export const startCrdInstaller = (context: ServerContext, worker: Worker): (() => void) => {
  /** By CRD name: what it made the server serve. */
  const installed = new Map<string, readonly ResourceDefinition[]>();
  return context.store.listen((event) => {
    if (event.collection === CRD_COLLECTION) {
      install(context, installed, event);
      if (event.type !== 'DELETED') worker.add(`crd ${event.stored.key}`, () => maintain(context, event.stored.key));
    } else if (event.type === 'DELETED') {
      const crd = crdOf(context, event);
      if (crd !== undefined) worker.add(`crd ${crd.key}`, () => maintain(context, crd.key));
    }
  });
};

const install = (
  { registry }: ServerContext,
  installed: Map<string, readonly ResourceDefinition[]>,
  { type, stored, previous }: StoreEvent,
): void => {
  const unchanged = type === 'MODIFIED' && jsonEqual(stored.object['spec'], previous?.object['spec']);
  if (unchanged) return;
  for (const definition of installed.get(stored.key) ?? []) registry.remove(definition);
  installed.delete(stored.key);
  if (type === 'DELETED') return;
  const definitions = definitionsOf(stored.object);
  for (const definition of definitions) registry.add(definition);
  installed.set(stored.key, definitions);
};

/** The CRD of an object that is gone, when it waits for that. */
const crdOf = ({ store, registry }: ServerContext, { collection }: StoreEvent): Stored | undefined => {
  const definition = registry.ofCollection(collection);
  if (definition?.custom !== true) return undefined;
  return store.collection(CRD_COLLECTION).get(`${definition.plural}.${definition.group}`);
};

const maintain = (context: ServerContext, key: string): void => {
  const stored = context.store.collection(CRD_COLLECTION).get(key);
  if (stored === undefined) return;
  if (metadataOf(stored.object)['deletionTimestamp'] === undefined) establish(context, stored);
  else cleanUp(context, stored);
};

const establish = (context: ServerContext, { key, object }: Stored): void => {
  const names = recordOr(recordOr(object['spec'])['names']);
  if (jsonEqual(recordOr(object['status'])['acceptedNames'], names)) return;
  const lastTransitionTime = timestamp(context.clock.wall());
  const conditions = [
    { type: 'NamesAccepted', status: 'True', lastTransitionTime, reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status: 'True',
      lastTransitionTime,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ];
  const withStatus = (crd: JsonRecord): JsonRecord => ({
    ...crd,
    status: { ...recordOr(crd['status']), conditions, acceptedNames: names },
  });
  rewrite(context, { collection: CRD_COLLECTION, key }, withStatus, 'status');
};

/** The objects first: they may have finalizers of their own. */
const cleanUp = (context: ServerContext, { key, object }: Stored): void => {
  if (!finalizersOf(object).includes(CRD_FINALIZER)) return;
  const collection = collectionOf(recordOr(object['spec']));
  const definition = context.registry.ofCollection(collection);
  if (definition !== undefined) {
    for (const { namespace, name, object: own } of context.store.collection(collection).range('')) {
      if (metadataOf(own)['deletionTimestamp'] !== undefined) continue;
      deleteObject(context, { definition, namespace, name, options: DELETE_NOW });
    }
  }
  if (context.store.collection(collection).size > 0) return;
  const address = { collection: CRD_COLLECTION, key };
  rewrite(context, address, (crd) =>
    withFinalizers(
      crd,
      finalizersOf(crd).filter((own) => own !== CRD_FINALIZER),
    ),
  );
};
