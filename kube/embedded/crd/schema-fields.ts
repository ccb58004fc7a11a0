/** The merge rules that a CRD's schema declares. */
import { ANY, type FieldSchema, LEAF, mapOf, OBJECT_META, SET } from '../apply/field-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Of a whole custom resource. */
export const fieldSchemaOf = (schema: StructuralSchema): FieldSchema => {
  const fields = fieldsOf(schema);
  const own = fields.kind === 'map' ? fields.fields : {};
  return mapOf({ ...own, apiVersion: LEAF, kind: LEAF, metadata: OBJECT_META });
};

const fieldsOf = (schema: StructuralSchema): FieldSchema => {
  if (schema['x-kubernetes-map-type'] === 'atomic') return LEAF;
  if (schema.items !== undefined) return listOf(schema, schema.items);
  const rest = typeof schema.additionalProperties === 'object' ? fieldsOf(schema.additionalProperties) : ANY;
  const properties = Object.entries(schema.properties ?? {}).map(([name, child]) => [name, fieldsOf(child)] as const);
  if (schema.type === 'object' || properties.length > 0) return mapOf(Object.fromEntries(properties), rest);
  return schema['x-kubernetes-preserve-unknown-fields'] ? ANY : LEAF;
};

const listOf = (schema: StructuralSchema, items: StructuralSchema): FieldSchema => {
  if (schema['x-kubernetes-list-type'] === 'set') return SET;
  if (schema['x-kubernetes-list-type'] !== 'map') return LEAF;
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((name) => {
    const fallback = items.properties?.[name]?.default;
    return fallback === undefined ? { name } : { name, default: String(fallback) };
  });
  return { kind: 'list-map', keys, items: fieldsOf(items) };
};
