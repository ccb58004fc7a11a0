/** The defaults of a CRD's schema, and what a null means to it. */
import { isRecord, type JsonRecord } from '../../is-record.ts';
import type { StructuralSchema } from './structural-schema.ts';

export interface NullRule {
  /** Whether a null where none is allowed goes, as in the body of a create or update, or stays to be refused. */
  readonly dropNulls: boolean;
}

/** Fills in the defaults of a CRD's schema, also in place of nulls. A new object where something was filled in. */
export const withDefaults = (schema: StructuralSchema, object: JsonRecord, rule: NullRule): JsonRecord =>
  fill(schema, object, rule) as JsonRecord;

const fill = (schema: StructuralSchema, value: unknown, rule: NullRule): unknown => {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => fill(items, item, rule));
  }
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries(schema.properties ?? {})) fillMember(child, result, name, rule);
  const { additionalProperties } = schema;
  if (typeof additionalProperties !== 'object') return result;
  for (const name of Object.keys(value)) {
    if (schema.properties?.[name] === undefined) fillMember(additionalProperties, result, name, rule);
  }
  return result;
};

const fillMember = (schema: StructuralSchema, parent: Record<string, unknown>, name: string, rule: NullRule): void => {
  const isWrongNull = parent[name] === null && schema.nullable !== true;
  if (isWrongNull && (rule.dropNulls || schema.default !== undefined)) delete parent[name];
  if (parent[name] === undefined && schema.default !== undefined) parent[name] = structuredClone(schema.default);
  if (parent[name] !== undefined) parent[name] = fill(schema, parent[name], rule);
};
