/** PUT, and the second half of every PATCH. */
import type { JsonRecord } from '../../is-record.ts';
import { recordOr } from '../../is-record.ts';
import { jsonEqual } from '../../json-equal.ts';
import { hasUnkeyedItem } from '../apply/field-schema.ts';
import type { ServerContext } from '../context.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import type { WriteRequest } from '../requests/write-options.ts';
import { conflict, invalid, invalidValue, MODIFIED_MESSAGE, notFound } from '../status-error.ts';
import type { Stored } from '../store/store.ts';
import { checkIdentity, prepare, readCustom, validate, withKindDefaults } from './admit.ts';
import { orderedObject, servedForm, storedForm } from './form.ts';
import { recordFields } from './managed.ts';
import { finalizersOf, keptMetadata, metadataOf, specChanged, validateDeletionTime, withMetadata } from './metadata.ts';

export interface UpdateInput {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly options: WriteRequest;
  /** The object as the client wants it, from the object as it is. Throws StatusError. */
  readonly change: (old: JsonRecord) => JsonRecord;
  /** The change recorded its own field owners. */
  readonly isApply?: boolean;
  /** A PUT: of a custom resource it must say which version it was made from. */
  readonly isPut?: boolean;
  readonly warn?: (message: string) => void;
}

/**
 * @returns what is stored now; the last state when the update took the last finalizer of a deleted object away
 * @throws StatusError
 */
export const updateObject = (context: ServerContext, input: UpdateInput): Stored => {
  const { definition, namespace, name } = input;
  const key = namespace === '' ? name : `${namespace}/${name}`;
  const stored = context.store.collection(definition.collection).get(key);
  if (stored === undefined) throw notFound(definition, name);
  const old = servedForm(definition, stored.object);
  const desired = input.change(old);
  checkIdentity(desired, definition, { namespace, name });
  checkPreconditions(desired, old, input);
  const next = admitted(context, input, desired, old);
  if (jsonEqual(next, old)) return stored;
  return store(context, input, stored, next);
};

const checkPreconditions = (desired: JsonRecord, old: JsonRecord, { definition, name, isPut }: UpdateInput): void => {
  const [given, before] = [metadataOf(desired), metadataOf(old)];
  if (isPut && definition.custom && !given['resourceVersion']) {
    const error = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid(definition, name, [error]);
  }
  if (given['uid'] && given['uid'] !== before['uid']) {
    // Of a PUT it is a precondition, of the outcome of a PATCH it is content that can't be changed.
    if (!isPut) throw invalid(definition, name, [invalidValue('metadata.uid', given['uid'], 'field is immutable')]);
    const message = `Precondition failed: UID in precondition: ${given['uid']}, UID in object meta: ${before['uid']}`;
    throw conflict(definition, name, message);
  }
  if (given['resourceVersion'] && given['resourceVersion'] !== before['resourceVersion']) {
    throw conflict(definition, name, MODIFIED_MESSAGE);
  }
};

/** The object that will be stored, complete but for its version. */
const admitted = (context: ServerContext, input: UpdateInput, desired: JsonRecord, old: JsonRecord): JsonRecord => {
  const { definition, subresource, options, isApply = false, warn = () => {} } = input;
  const isStatus = subresource === 'status';
  const immutable = validateDeletionTime(desired, old);
  if (immutable.length > 0) throw invalid(definition, input.name, immutable);
  const isolated = isStatus ? withNewStatus(definition, desired, old) : withOldStatus(definition, desired, old);
  const kept = { ...isolated, metadata: keptMetadata(isolated, old) };
  const { fieldValidation } = options;
  const read = readCustom(kept, definition, { fieldValidation, isApply, warn });
  const defaulted = withKindDefaults(read, definition);
  const owned = isApply ? defaulted : withOwners(context, input, { old, desired, next: defaulted });
  const prepared = isStatus ? owned : prepare(owned, old, definition, context);
  validate(prepared, old, definition, context);
  return orderedObject(definition, countGeneration(definition, prepared, old));
};

/**
 * A write to the status is compared with the whole object, also with what it can't change. When that can't be told apart, a
 * real server forgets who owned what (managedfields' UpdateNoErrors).
 */
const withOwners = (
  context: ServerContext,
  input: UpdateInput,
  { old, desired, next }: { readonly old: JsonRecord; readonly desired: JsonRecord; readonly next: JsonRecord },
): JsonRecord => {
  const { definition, subresource } = input;
  const isLost = subresource === 'status' && definition.custom && hasUnkeyedItem(definition.fields, desired);
  return isLost ? withMetadata(next, { managedFields: undefined }) : recordFields(context, input, old, next);
};

/** A write to the object itself can't change its status. */
const withOldStatus = ({ hasStatus }: ResourceDefinition, desired: JsonRecord, old: JsonRecord): JsonRecord => {
  if (!hasStatus) return desired;
  const { status: _, ...rest } = desired;
  return old['status'] === undefined ? rest : { ...rest, status: old['status'] };
};

/** A write to the status changes nothing else; of built-in kinds it may change labels and annotations too. */
const withNewStatus = ({ custom }: ResourceDefinition, desired: JsonRecord, old: JsonRecord): JsonRecord => {
  const { status: _, ...rest } = old;
  const status = desired['status'] === undefined ? {} : { status: desired['status'] };
  const { managedFields } = metadataOf(desired);
  if (custom) return { ...withMetadata(rest, { managedFields }), ...status };
  const { ownerReferences, finalizers } = metadataOf(old);
  return { ...rest, ...withMetadata({ metadata: desired['metadata'] }, { ownerReferences, finalizers }), ...status };
};

const countGeneration = (definition: ResourceDefinition, next: JsonRecord, old: JsonRecord): JsonRecord => {
  if (!definition.hasGeneration || !specChanged(next, old, definition.hasStatus)) return next;
  return withMetadata(next, { generation: Number(metadataOf(old)['generation'] ?? 0) + 1 });
};

const store = (context: ServerContext, input: UpdateInput, stored: Stored, next: JsonRecord): Stored => {
  const { definition, options } = input;
  const form = storedForm(definition, next);
  if (options.dryRun) return { ...stored, object: form };
  if (isFinished(definition, next)) {
    return context.store.remove(definition.collection, stored.key, form) ?? stored;
  }
  return context.store.put(definition.collection, form);
};

/** A deleted object goes with its last finalizer, unless somebody has been given time to stop it. */
const isFinished = (definition: ResourceDefinition, next: JsonRecord): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(next);
  if (deletionTimestamp === undefined || finalizersOf(next).length > 0) return false;
  // A namespace has a finalizer of its own kind in its spec.
  const inSpec = definition.kind === 'Namespace' && recordOr(next['spec'])['finalizers'];
  if (Array.isArray(inSpec) && inSpec.length > 0) return false;
  return Number(deletionGracePeriodSeconds ?? 0) === 0;
};
