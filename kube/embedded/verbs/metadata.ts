/** `metadata`: what clients may set of it, and what the server does. */
import { randomUUID } from 'node:crypto';
import { isRecord, type JsonRecord, recordOr } from '../../is-record.ts';
import { jsonEqual } from '../../json-equal.ts';
import { isLabelValue, isQualifiedName, validateName } from '../definitions/names.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { badRequest, type FieldError, forbiddenField, invalidValue, required } from '../status-error.ts';

export const metadataOf = (object: JsonRecord): JsonRecord => recordOr(object['metadata']);

export const finalizersOf = (object: JsonRecord): string[] => {
  const finalizers = metadataOf(object)['finalizers'];
  return Array.isArray(finalizers) ? finalizers.map(String) : [];
};

export const withMetadata = (object: JsonRecord, changes: JsonRecord): JsonRecord => ({
  ...object,
  metadata: withoutUndefined({ ...metadataOf(object), ...changes }),
});

export const withFinalizers = (object: JsonRecord, finalizers: readonly string[]): JsonRecord =>
  withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : finalizers });

/** What a client says of these is ignored. */
const SERVER_OWNED = ['selfLink', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields', 'generation'];

export const newMetadata = (
  object: JsonRecord,
  definition: ResourceDefinition,
  { namespace, name, time }: { namespace: string; name: string; time: string },
): JsonRecord => ({
  name,
  ...(namespace === '' ? {} : { namespace }),
  uid: randomUUID(),
  creationTimestamp: time,
  ...(definition.hasGeneration ? { generation: 1 } : {}),
  ...withoutKeys(metadataOf(object), [
    ...SERVER_OWNED,
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'resourceVersion',
    ...emptyCollections(metadataOf(object)),
  ]),
});

/** What stays of the stored object whatever a client sends. */
export const keptMetadata = (next: JsonRecord, old: JsonRecord): JsonRecord => {
  const [given, before] = [metadataOf(next), metadataOf(old)];
  const kept = ['name', 'namespace', 'uid', 'creationTimestamp', 'generation', 'deletionTimestamp', 'generateName'];
  return withoutUndefined({
    ...withoutKeys(given, [...SERVER_OWNED, ...emptyCollections(given)]),
    ...Object.fromEntries([...kept, 'deletionGracePeriodSeconds'].map((key) => [key, before[key]])),
    managedFields: given['managedFields'],
    resourceVersion: before['resourceVersion'],
  });
};

/** The server does not keep empty maps and lists. */
const emptyCollections = (metadata: JsonRecord): string[] =>
  ['labels', 'annotations', 'finalizers', 'ownerReferences'].filter((key) => {
    const value = metadata[key];
    return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  });

const SUFFIX_CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** `generateName` and five random characters. */
export const generatedName = (prefix: string, random: () => number): string => {
  const suffix = Array.from({ length: 5 }, () => SUFFIX_CHARACTERS[Math.floor(random() * SUFFIX_CHARACTERS.length)]);
  return prefix.slice(0, 58) + suffix.join('');
};

/**
 * Types that a real server can't even decode.
 * @throws StatusError 400
 */
export const checkMetadataTypes = (object: JsonRecord): void => {
  const metadata = object['metadata'];
  if (metadata !== undefined && !isRecord(metadata)) throw badRequest('metadata must be an object');
  const { name, generateName, namespace, finalizers } = recordOr(metadata);
  for (const [key, value] of Object.entries({ name, generateName, namespace })) {
    if (value !== undefined && value !== null && typeof value !== 'string') throw undecodable(key, value);
  }
  for (const key of ['labels', 'annotations']) checkStringMap(key, recordOr(metadata)[key]);
  if (finalizers !== undefined && finalizers !== null && !Array.isArray(finalizers)) {
    throw undecodable('finalizers', finalizers);
  }
};

const checkStringMap = (key: string, map: unknown): void => {
  if (map === undefined || map === null) return;
  if (!isRecord(map)) throw undecodable(key, map);
  for (const value of Object.values(map)) if (typeof value !== 'string') throw undecodable(key, value);
};

const undecodable = (key: string, value: unknown) =>
  badRequest(`json: cannot unmarshal ${typeof value} into Go struct field ObjectMeta.metadata.${key}`);

const MAX_ANNOTATION_BYTES = 256 * 1024;

export const validateMetadata = (object: JsonRecord, definition: ResourceDefinition): FieldError[] => {
  const { name, labels, annotations, ownerReferences } = metadataOf(object);
  const size = Object.entries(recordOr(annotations)).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  return [
    ...validateName(String(name ?? ''), definition.strategy.nameRule ?? 'subdomain'),
    ...Object.entries(recordOr(labels)).flatMap(([key, value]) => validateLabel(key, String(value))),
    ...Object.keys(recordOr(annotations)).flatMap((key) => validateKey('metadata.annotations', key.toLowerCase())),
    ...(size > MAX_ANNOTATION_BYTES
      ? [
          {
            field: 'metadata.annotations',
            reason: 'FieldValueTooLong' as const,
            message: `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`,
          },
        ]
      : []),
    ...validateOwners(Array.isArray(ownerReferences) ? ownerReferences.map(recordOr) : []),
  ];
};

const validateLabel = (key: string, value: string): FieldError[] => [
  ...validateKey('metadata.labels', key),
  ...(isLabelValue(value)
    ? []
    : [
        invalidValue(
          'metadata.labels',
          value,
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
      ]),
];

const validateKey = (field: string, key: string): FieldError[] =>
  isQualifiedName(key)
    ? []
    : [
        invalidValue(
          field,
          key,
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
      ];

const validateOwners = (owners: readonly JsonRecord[]): FieldError[] => {
  const controllers = owners.filter(({ controller }) => controller === true);
  return [
    ...owners.flatMap((owner, i) =>
      ['apiVersion', 'kind', 'name', 'uid']
        .filter((key) => !owner[key])
        .map((key) => required(`metadata.ownerReferences[${i}].${key}`)),
    ),
    ...(controllers.length > 1
      ? [invalidValue('metadata.ownerReferences', owners, 'Only one reference can have Controller set to true')]
      : []),
  ];
};

/** While an object is being deleted nobody may ask for more time. */
export const validateFinalizers = (next: JsonRecord, old: JsonRecord): FieldError[] => {
  if (metadataOf(old)['deletionTimestamp'] === undefined) return [];
  const added = finalizersOf(next).filter((finalizer) => !finalizersOf(old).includes(finalizer));
  return added.length === 0
    ? []
    : [
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
        ),
      ];
};

/** A client may leave it out, but not change it. */
export const validateDeletionTime = (given: JsonRecord, old: JsonRecord): FieldError[] => {
  const { deletionTimestamp } = metadataOf(given);
  if (!deletionTimestamp || deletionTimestamp === metadataOf(old)['deletionTimestamp']) return [];
  return [invalidValue('metadata.deletionTimestamp', deletionTimestamp, 'field is immutable')];
};

/** Whether two versions differ in more than metadata and status: what `generation` counts. */
export const specChanged = (next: JsonRecord, old: JsonRecord, hasStatus: boolean): boolean => {
  const ignored = ['metadata', ...(hasStatus ? ['status'] : [])];
  return !jsonEqual(withoutKeys(next, ignored), withoutKeys(old, ignored));
};

const withoutKeys = (record: JsonRecord, keys: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));

const withoutUndefined = (record: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
