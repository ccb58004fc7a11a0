/** Empties namespaces that are being deleted, then lets them go. */
import { recordOr } from '../../is-record.ts';
import type { ServerContext } from '../context.ts';
import type { StoreEvent } from '../store/store.ts';
import { DELETE_NOW, deleteObject } from '../verbs/delete.ts';
import { finalizersOf, metadataOf } from '../verbs/metadata.ts';
import type { Worker } from './worker.ts';

const NAMESPACES = '/namespaces';

export const startNamespaceLifecycle = (context: ServerContext, worker: Worker): (() => void) =>
  context.store.listen((event) => {
    const namespace = concerned(event);
    if (namespace === '' || !isTerminating(context, namespace)) return;
    worker.add(`namespace ${namespace}`, () => empty(context, namespace));
  });

/** A namespace that changed, or the one that something is gone from. */
const concerned = ({ type, collection, stored }: StoreEvent): string => {
  if (collection === NAMESPACES) return type === 'DELETED' ? '' : stored.name;
  return type === 'DELETED' ? stored.namespace : '';
};

const isTerminating = ({ store }: ServerContext, name: string): boolean => {
  const namespace = store.collection(NAMESPACES).get(name);
  return namespace !== undefined && metadataOf(namespace.object)['deletionTimestamp'] !== undefined;
};

const empty = (context: ServerContext, namespace: string): void => {
  const { store, registry } = context;
  let left = 0;
  for (const definition of registry.all()) {
    if (!definition.namespaced || definition.conversion !== undefined) continue;
    const objects = store.collection(definition.collection).range(namespace);
    for (const { name, object } of objects) {
      if (metadataOf(object)['deletionTimestamp'] !== undefined) continue;
      deleteObject(context, { definition, namespace, name, options: DELETE_NOW });
    }
    left += store.collection(definition.collection).range(namespace).length;
  }
  if (left === 0) release(context, namespace);
};

const release = ({ store }: ServerContext, name: string): void => {
  const stored = store.collection(NAMESPACES).get(name);
  if (stored === undefined) return;
  const { finalizers: _, ...spec } = recordOr(stored.object['spec']);
  if (stored.object['spec'] !== undefined && 'finalizers' in recordOr(stored.object['spec'])) {
    store.put(NAMESPACES, { ...stored.object, spec });
  }
  if (finalizersOf(stored.object).length === 0) store.remove(NAMESPACES, name);
};
