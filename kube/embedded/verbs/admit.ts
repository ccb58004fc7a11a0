/** What every write goes through between the client's object and the store: pruning, defaults, the kind's rules, checks. */
import { isRecord, type JsonRecord } from '../../is-record.ts';
import type { ServerContext } from '../context.ts';
import { withDefaults } from '../crd/default-values.ts';
import { pruneObject } from '../crd/prune.ts';
import type { StructuralSchema } from '../crd/structural-schema.ts';
import { validateValue } from '../crd/validate.ts';
import { validateRules } from '../crd/validate-rules.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { apiVersionOf } from '../registry.ts';
import type { WriteRequest } from '../requests/write-options.ts';
import { badRequest, invalid } from '../status-error.ts';
import { checkMetadataTypes, metadataOf, validateFinalizers, validateMetadata } from './metadata.ts';

/** The bodies of built-in kinds may leave out what the URL says. */
export const identified = (object: JsonRecord, definition: ResourceDefinition): JsonRecord => {
  if (definition.custom) return object;
  const { apiVersion, kind } = object;
  return { ...object, apiVersion: apiVersion || apiVersionOf(definition), kind: kind || definition.kind };
};

/**
 * `apiVersion`, `kind` and the names must be those of the URL.
 * @throws StatusError 400
 */
export const checkIdentity = (
  object: JsonRecord,
  definition: ResourceDefinition,
  { namespace, name }: { namespace: string; name?: string | undefined },
): void => {
  const { apiVersion, kind } = object;
  if (typeof kind !== 'string' || kind === '') throw badRequest("Object 'Kind' is missing in the body");
  if (kind !== definition.kind) {
    throw badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): it is a ${kind}`);
  }
  if (apiVersion !== apiVersionOf(definition)) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${apiVersionOf(definition)})`,
    );
  }
  checkMetadataTypes(object);
  const given = metadataOf(object);
  if (given['namespace'] && given['namespace'] !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (name !== undefined && given['name'] && given['name'] !== name) {
    throw badRequest(`the name of the object (${String(given['name'])}) does not match the name on the URL (${name})`);
  }
};

export interface ReadOptions {
  readonly fieldValidation: WriteRequest['fieldValidation'];
  /** The object is what an apply has made. */
  readonly isApply: boolean;
  /** Called with unknown fields, unless they are refused. */
  readonly warn: (message: string) => void;
}

/**
 * Prunes and defaults custom resources.
 * @throws StatusError 400 for unknown fields under strict validation
 */
export const readCustom = (
  object: JsonRecord,
  { schema }: ResourceDefinition,
  { fieldValidation, isApply, warn }: ReadOptions,
): JsonRecord => {
  if (schema === undefined) return object;
  const unknown: string[] = [];
  const pruned = pruneObject(schema, object, (path) => unknown.push(path));
  const problems = unknown.map((path) => `unknown field "${path}"`);
  if (fieldValidation === 'Strict' && problems.length > 0) {
    throw badRequest(`strict decoding error: ${problems.join(', ')}`);
  }
  if (fieldValidation === 'Warn') for (const problem of problems) warn(problem);
  return withDefaults(schema, pruned, { dropNulls: !isApply });
};

/** Nulls of built-in kinds are absent fields, and absent fields have defaults. */
export const withKindDefaults = (object: JsonRecord, { custom, strategy }: ResourceDefinition): JsonRecord => {
  const decoded = custom ? object : withoutNullParts(object);
  return strategy.defaults?.(decoded) ?? decoded;
};

/** What the server decides, for example a Service's address. */
export const prepare = (
  object: JsonRecord,
  old: JsonRecord | undefined,
  definition: ResourceDefinition,
  context: ServerContext,
): JsonRecord => {
  const own = definition.strategy.prepare;
  return own === undefined ? object : own(object, old, { now: context.clock.wall(), services: context.services });
};

/** @throws StatusError 422 with everything that is wrong */
export const validate = (
  object: JsonRecord,
  old: JsonRecord | undefined,
  definition: ResourceDefinition,
  context: ServerContext,
): void => {
  const { schema, strategy } = definition;
  const errors = [
    ...validateMetadata(object, definition),
    ...(old === undefined ? [] : validateFinalizers(object, old)),
    ...(strategy.validate?.(object, old, { now: context.clock.wall(), services: context.services }) ?? []),
    ...(schema === undefined ? [] : validateCustom(schema, object, old)),
  ];
  if (errors.length > 0) throw invalid(definition, String(metadataOf(object)['name'] ?? ''), errors);
};

/** Rules count on values of the right types: they come after the rest of the schema. */
const validateCustom = (schema: StructuralSchema, object: JsonRecord, old: JsonRecord | undefined) => {
  const errors = validateValue(schema, object, '');
  return errors.length > 0 ? errors : validateRules(schema, object, old);
};

/** A null is an absent field to Go's decoder. */
const withoutNullParts = (object: JsonRecord): JsonRecord =>
  Object.fromEntries(
    Object.entries(object)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, cleaned(value)]),
  );

const cleaned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(cleaned);
  return isRecord(value) ? withoutNullParts(value) : value;
};
