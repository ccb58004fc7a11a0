/** DELETE: at once, or in steps while finalizers or a grace period hold the object. */
import { type JsonRecord, recordOr } from '../../is-record.ts';
import { type ServerContext, timestamp } from '../context.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import type { DeleteRequest } from '../requests/write-options.ts';
import { conflict, forbidden, notFound, successStatus } from '../status-error.ts';
import type { Stored } from '../store/store.ts';
import { servedForm } from './form.ts';
import { finalizersOf, metadataOf, withFinalizers, withMetadata } from './metadata.ts';

export interface DeleteInput {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteRequest;
}

export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';

/** Deletes at once whatever the kind would give time for; finalizers still hold. */
export const DELETE_NOW: DeleteRequest = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagation: 'Background',
  uid: undefined,
  resourceVersion: undefined,
};

/**
 * @returns the object while it is held, else a Status
 * @throws StatusError
 */
export const deleteObject = (context: ServerContext, input: DeleteInput): JsonRecord => {
  const { definition, namespace, name, options } = input;
  const key = namespace === '' ? name : `${namespace}/${name}`;
  const stored = context.store.collection(definition.collection).get(key);
  if (stored === undefined) throw notFound(definition, name);
  checkPreconditions(definition, stored, options);
  if (definition.kind === 'Namespace' && PERMANENT.has(name)) {
    throw forbidden(definition, name, 'this namespace may not be deleted');
  }
  const held = heldObject(context, definition, stored.object, options);
  if (held === undefined) return removeNow(context, definition, stored, options);
  if (held === stored.object || options.dryRun) return servedForm(definition, held);
  return servedForm(definition, context.store.put(definition.collection, held).object);
};

const PERMANENT = new Set(['default', 'kube-system', 'kube-public']);

const checkPreconditions = (
  definition: ResourceDefinition,
  { name, uid, object }: Stored,
  options: DeleteRequest,
): void => {
  if (options.uid !== undefined && options.uid !== uid) {
    const message = `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${uid}`;
    throw conflict(definition, name, message);
  }
  const { resourceVersion } = metadataOf(object);
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const message = `Precondition failed: ResourceVersion in precondition: ${options.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`;
    throw conflict(definition, name, message);
  }
};

/** The object that waits for its end; the same one when it waits already; undefined when nothing holds it. */
const heldObject = (
  context: ServerContext,
  definition: ResourceDefinition,
  object: JsonRecord,
  options: DeleteRequest,
): JsonRecord | undefined => {
  const finalizers = withPropagation(finalizersOf(object), options.propagation);
  const grace = options.gracePeriodSeconds ?? definition.strategy.gracePeriod?.(object) ?? 0;
  const possible = definition.strategy.gracePeriod === undefined ? 0 : Math.min(grace, maxGrace(definition, object));
  const inSpec = definition.kind === 'Namespace' ? recordOr(object['spec'])['finalizers'] : undefined;
  const isHeld = finalizers.length > 0 || possible > 0 || (Array.isArray(inSpec) && inSpec.length > 0);
  if (!isHeld) return undefined;
  return marked(context, definition, withFinalizers(object, finalizers), object, possible);
};

/** What nobody runs needs no time to be stopped, whatever is asked for. */
const maxGrace = ({ strategy }: ResourceDefinition, object: JsonRecord): number =>
  strategy.gracePeriod?.(object) === 0 ? 0 : Number.POSITIVE_INFINITY;

const withPropagation = (finalizers: readonly string[], propagation: DeleteRequest['propagation']): string[] => {
  if (propagation === undefined) return [...finalizers];
  const others = finalizers.filter((finalizer) => finalizer !== FOREGROUND_FINALIZER && finalizer !== ORPHAN_FINALIZER);
  if (propagation === 'Foreground') return [...others, FOREGROUND_FINALIZER];
  return propagation === 'Orphan' ? [...others, ORPHAN_FINALIZER] : others;
};

const marked = (
  { clock }: ServerContext,
  definition: ResourceDefinition,
  next: JsonRecord,
  old: JsonRecord,
  grace: number,
): JsonRecord => {
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = metadataOf(old);
  const shorter = Number(deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY) > grace;
  const sameFinalizers = finalizersOf(next).length === finalizersOf(old).length;
  if (deletionTimestamp !== undefined && !shorter) return sameFinalizers ? old : next;
  const counted = definition.hasGeneration && deletionTimestamp === undefined;
  return terminating(
    definition,
    withMetadata(next, {
      deletionTimestamp: timestamp(clock.wall() + grace * 1000),
      deletionGracePeriodSeconds: grace,
      ...(counted ? { generation: Number(generation ?? 0) + 1 } : {}),
    }),
  );
};

const terminating = ({ kind }: ResourceDefinition, object: JsonRecord): JsonRecord => {
  if (kind !== 'Namespace') return object;
  const { deletionGracePeriodSeconds: _, ...metadata } = metadataOf(object);
  return { ...object, metadata, status: { ...recordOr(object['status']), phase: 'Terminating' } };
};

const removeNow = (
  { store }: ServerContext,
  definition: ResourceDefinition,
  { key, name, uid }: Stored,
  options: DeleteRequest,
): JsonRecord => {
  const removed = options.dryRun ? undefined : store.remove(definition.collection, key);
  const { group, plural } = definition;
  if (definition.strategy.returnsDeleted && removed !== undefined) return servedForm(definition, removed.object);
  return { ...successStatus({ name, ...(group === '' ? {} : { group }), kind: plural, uid }) };
};
