/** The OpenAPI v3 schemas of CRDs, as far as the server acts on them. */
import { z } from 'zod';

export interface StructuralSchema {
  readonly type?: string | undefined;
  readonly properties?: Readonly<Record<string, StructuralSchema>> | undefined;
  readonly additionalProperties?: StructuralSchema | boolean | undefined;
  readonly items?: StructuralSchema | undefined;
  readonly required?: readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: boolean | undefined;
  readonly exclusiveMaximum?: boolean | undefined;
  readonly multipleOf?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly pattern?: string | undefined;
  readonly format?: string | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly minProperties?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly default?: unknown;
  readonly nullable?: boolean | undefined;
  readonly allOf?: readonly StructuralSchema[] | undefined;
  readonly anyOf?: readonly StructuralSchema[] | undefined;
  readonly oneOf?: readonly StructuralSchema[] | undefined;
  readonly not?: StructuralSchema | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map' | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular' | undefined;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[] | undefined;
}

export interface ValidationRule {
  /** CEL. */
  readonly rule: string;
  readonly message?: string | undefined;
  /** Of the field to blame, below the value: `.layer2.role`. */
  readonly fieldPath?: string | undefined;
}

const isPattern = (text: string): boolean => {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
};

const validationRule = z.looseObject({
  rule: z.string(),
  message: z.string().optional(),
  fieldPath: z.string().optional(),
});

/** Unknown keywords, such as `description`, are kept as they are. */
const schema: z.ZodType<StructuralSchema> = z.lazy(() =>
  z.looseObject({
    type: z.enum(['object', 'array', 'string', 'integer', 'number', 'boolean']).optional(),
    properties: z.record(z.string(), schema).optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
    items: schema.optional(),
    required: z.array(z.string()).optional(),
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    exclusiveMinimum: z.boolean().optional(),
    exclusiveMaximum: z.boolean().optional(),
    multipleOf: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    pattern: z.string().refine(isPattern, 'must be a valid regular expression').optional(),
    format: z.string().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    uniqueItems: z.boolean().optional(),
    minProperties: z.number().optional(),
    maxProperties: z.number().optional(),
    nullable: z.boolean().optional(),
    allOf: z.array(schema).optional(),
    anyOf: z.array(schema).optional(),
    oneOf: z.array(schema).optional(),
    not: schema.optional(),
    $ref: z.never('may not be used').optional(),
    'x-kubernetes-preserve-unknown-fields': z.boolean().optional(),
    'x-kubernetes-int-or-string': z.boolean().optional(),
    'x-kubernetes-embedded-resource': z.boolean().optional(),
    'x-kubernetes-list-type': z.enum(['atomic', 'set', 'map']).optional(),
    'x-kubernetes-list-map-keys': z.array(z.string()).optional(),
    'x-kubernetes-map-type': z.enum(['atomic', 'granular']).optional(),
    'x-kubernetes-validations': z.array(validationRule).optional(),
  }),
);

export type SchemaResult =
  | { readonly schema: StructuralSchema; readonly problems: readonly [] }
  | { readonly schema?: undefined; readonly problems: readonly SchemaProblem[] };

export interface SchemaProblem {
  /** Below the schema, for example `properties[spec].type`. */
  readonly field: string;
  readonly message: string;
}

/** Checks that a schema is structural: what may be pruned and defaulted must be typed. */
export const parseStructuralSchema = (value: unknown): SchemaResult => {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
    return { problems };
  }
  const problems = structuralProblems(parsed.data, '');
  if (parsed.data.type !== 'object') problems.unshift({ field: 'type', message: 'must be object at the root' });
  return problems.length === 0 ? { schema: parsed.data, problems: [] } : { problems };
};

const structuralProblems = (node: StructuralSchema, path: string): SchemaProblem[] => {
  const untyped =
    node.type === undefined &&
    node['x-kubernetes-int-or-string'] !== true &&
    node['x-kubernetes-preserve-unknown-fields'] !== true;
  return [
    ...(untyped ? [{ field: `${path}type`, message: 'must not be empty for specified object fields' }] : []),
    ...(node.type === 'array' && node.items === undefined
      ? [{ field: `${path}items`, message: 'must be specified for arrays' }]
      : []),
    ...(node.properties !== undefined && node.additionalProperties !== undefined
      ? [{ field: `${path}additionalProperties`, message: 'is mutually exclusive with properties' }]
      : []),
    ...listProblems(node, path),
    ...Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
      structuralProblems(child, `${path}properties[${name}].`),
    ),
    ...(node.items === undefined ? [] : structuralProblems(node.items, `${path}items.`)),
    ...(typeof node.additionalProperties === 'object'
      ? structuralProblems(node.additionalProperties, `${path}additionalProperties.`)
      : []),
  ];
};

const listProblems = (node: StructuralSchema, path: string): SchemaProblem[] => {
  if (node['x-kubernetes-list-type'] !== 'map') return [];
  const keys = node['x-kubernetes-list-map-keys'] ?? [];
  if (keys.length === 0)
    return [{ field: `${path}x-kubernetes-list-map-keys`, message: 'is required for list type map' }];
  const unknown = keys.filter((key) => node.items?.properties?.[key] === undefined);
  return unknown.map((key) => ({
    field: `${path}x-kubernetes-list-map-keys`,
    message: `entries must all be names of item properties, "${key}" is not`,
  }));
};
