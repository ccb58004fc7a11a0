/**
 * zod schema → structural schema (Kubernetes, "Extend the API with CustomResourceDefinitions"): no composition, a type on
 * every node, nothing but the keys that an API server knows.
 */
import { z } from 'zod';

export interface StructuralSchema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly items?: StructuralSchema;
  readonly additionalProperties?: StructuralSchema;
  readonly [key: string]: unknown;
}

/** @throws TypeError when the schema has a part that no structural schema can say */
export const toStructural = (schema: z.ZodType): StructuralSchema =>
  structural(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0', reused: 'inline' }), '');

/** In the order in which they are written. */
const KEPT_KEYS: readonly string[] = [
  'description',
  'type',
  'format',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
];

const DROPPED_KEYS: readonly string[] = ['$schema', 'propertyNames', 'properties', 'items', 'additionalProperties'];

const structural = (node: unknown, path: string): StructuralSchema => {
  if (!isObject(node) || typeof node['type'] !== 'string') throw new TypeError(`${path}: no type`);
  for (const key of Object.keys(node)) {
    if (!KEPT_KEYS.includes(key) && !DROPPED_KEYS.includes(key)) throw new TypeError(`${path}: unexpected ${key}`);
  }
  const { properties, items, additionalProperties } = node;
  return {
    type: node['type'],
    ...Object.fromEntries(KEPT_KEYS.filter((key) => key in node).map((key) => [key, node[key]])),
    ...(isObject(properties) ? { properties: structuralProperties(properties, path) } : {}),
    ...(items === undefined ? {} : { items: structural(items, `${path}[]`) }),
    ...(isObject(additionalProperties) ? { additionalProperties: structural(additionalProperties, `${path}{}`) } : {}),
  };
};

const structuralProperties = (
  properties: Readonly<Record<string, unknown>>,
  path: string,
): Record<string, StructuralSchema> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, structural(property, `${path}.${name}`)]),
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
