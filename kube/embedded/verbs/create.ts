/** POST. */
import type { JsonRecord } from '../../is-record.ts';
import { recordOr } from '../../is-record.ts';
import { type ServerContext, timestamp } from '../context.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import type { WriteRequest } from '../requests/write-options.ts';
import { alreadyExists, badRequest, forbidden, invalid, notFound, required } from '../status-error.ts';
import type { Stored } from '../store/store.ts';
import { checkIdentity, prepare, readCustom, validate, withKindDefaults } from './admit.ts';
import { orderedObject, storedForm } from './form.ts';
import { recordFields } from './managed.ts';
import { generatedName, metadataOf, newMetadata, withMetadata } from './metadata.ts';

export interface CreateInput {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  /** Of an apply that creates: the name in the URL. */
  readonly name?: string | undefined;
  readonly object: JsonRecord;
  readonly options: WriteRequest;
  /** The fields are owned by an apply. */
  readonly isApply?: boolean;
  readonly warn?: (message: string) => void;
}

/**
 * @returns what was stored, or would have been
 * @throws StatusError
 */
export const createObject = (context: ServerContext, input: CreateInput): Stored => {
  const { definition, namespace, object, options } = input;
  checkIdentity(object, definition, { namespace, name: input.name });
  if (metadataOf(object)['resourceVersion']) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  const name = chooseName(context, input);
  checkNamespace(context, definition, namespace, name);
  const read = newObject(context, input, name);
  const owned = input.isApply
    ? withMetadata(read, { managedFields: metadataOf(object)['managedFields'] })
    : recordFields(context, input, undefined, read);
  const next = prepare(owned, undefined, definition, context);
  validate(next, undefined, definition, context);
  const key = namespace === '' ? name : `${namespace}/${name}`;
  if (context.store.collection(definition.collection).get(key) !== undefined) throw alreadyExists(definition, name);
  const form = storedForm(definition, orderedObject(definition, next));
  return options.dryRun ? unstored(form, namespace, name, key) : context.store.put(definition.collection, form);
};

const newObject = (context: ServerContext, input: CreateInput, name: string): JsonRecord => {
  const { definition, namespace, object, options, isApply = false, warn = () => {} } = input;
  const metadata = newMetadata(object, definition, { namespace, name, time: timestamp(context.clock.wall()) });
  const { fieldValidation } = options;
  const read = readCustom({ ...object, metadata }, definition, { fieldValidation, isApply, warn });
  const { status: _, ...withoutStatus } = read;
  return withKindDefaults(definition.hasStatus ? withoutStatus : read, definition);
};

/** How often another name is tried when a generated one is taken. */
const NAME_TRIES = 8;

const chooseName = (context: ServerContext, { definition, namespace, name, object }: CreateInput): string => {
  const given = name ?? metadataOf(object)['name'];
  if (typeof given === 'string' && given !== '') return given;
  const prefix = metadataOf(object)['generateName'];
  if (typeof prefix !== 'string' || prefix === '') {
    throw invalid(definition, '', [required('metadata.name', 'name or generateName is required')]);
  }
  const collection = context.store.collection(definition.collection);
  for (let tries = 1; tries < NAME_TRIES; tries += 1) {
    const candidate = generatedName(prefix, context.random);
    if (collection.get(namespace === '' ? candidate : `${namespace}/${candidate}`) === undefined) return candidate;
  }
  return generatedName(prefix, context.random);
};

/** Objects need a namespace that is there and stays. */
const checkNamespace = (
  { store }: ServerContext,
  definition: ResourceDefinition,
  namespace: string,
  name: string,
): void => {
  if (!definition.namespaced) return;
  const stored = store.collection('/namespaces').get(namespace)?.object;
  if (stored === undefined) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  if (recordOr(stored['status'])['phase'] !== 'Terminating') return;
  throw forbidden(
    definition,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
};

const unstored = (object: JsonRecord, namespace: string, name: string, key: string): Stored => ({
  key,
  namespace,
  name,
  uid: String(metadataOf(object)['uid']),
  revision: 0,
  object,
});
