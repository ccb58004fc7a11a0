/** Removes what a CRD's schema does not know. */
import { isRecord, type JsonRecord } from '../../is-record.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Of the root and of embedded resources. */
const ALWAYS = ['apiVersion', 'kind', 'metadata'];

/** @param onUnknown called with the path of each field that is removed */
export const pruneObject = (
  schema: StructuralSchema,
  object: JsonRecord,
  onUnknown: (path: string) => void,
): JsonRecord => {
  const kept = Object.fromEntries(Object.entries(object).filter(([name]) => ALWAYS.includes(name)));
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => !ALWAYS.includes(name)));
  return {
    ...kept,
    ...(prune({ ...schema, 'x-kubernetes-embedded-resource': false }, rest, '', onUnknown) as JsonRecord),
  };
};

const prune = (schema: StructuralSchema, value: unknown, path: string, onUnknown: (path: string) => void): unknown => {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item, i) => prune(items, item, `${path}[${i}]`, onUnknown));
  }
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value)) {
    const childPath = path === '' ? name : `${path}.${name}`;
    const known = childSchema(schema, name);
    if (known === undefined) onUnknown(childPath);
    else result[name] = known === KEEP ? child : prune(known, child, childPath, onUnknown);
  }
  return result;
};

const KEEP: StructuralSchema = {};

/** Undefined: the field is unknown. */
const childSchema = (schema: StructuralSchema, name: string): StructuralSchema | undefined => {
  const own = schema.properties;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name];
  if (schema['x-kubernetes-embedded-resource'] === true && ALWAYS.includes(name)) return KEEP;
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  if (schema.additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] === true) return KEEP;
  // The typed alternatives: a value that may be anything but an object was given as one, which validation reports.
  return schema.type === undefined || schema.type === 'object' ? undefined : KEEP;
};
