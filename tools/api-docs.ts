/** `docs/api.md`: every field of the custom resources with its limits and rules, from the schemas of `api/`. */
import { CRDS } from '../api/crd/crds.ts';
import type { CrdDescription } from '../api/crd/definition.ts';
import type { StructuralSchema } from '../api/crd/structural.ts';
import { VALIDATIONS } from '../api/rules.ts';
import { markdownTable } from './markdown.ts';

/** Path from the repository's root → content. */
export const apiDocs = (): Record<string, string> => ({ 'docs/api.md': text() });

const text = (): string =>
  `${[
    '# Custom resources',
    'Every field, its limits, and what an API server says when a rule is broken. This page is made from the schemas of' +
      ' [api/](../api/README.md) by `make gen`, as are the CRDs in `daemonset/crds/`; `make check` fails when it is not' +
      ' current. Do not edit it. What the conditions in a status mean, and what to do, is in' +
      ' [errors.md](errors.md#conditions-of-userdefinednetworks-and-clusteruserdefinednetworks).',
    'A field with `*` is required if its parent is present. `kubectl explain` shows the same descriptions.',
    ...CRDS.flatMap(section),
  ].join('\n\n')}\n`;

const section = (crd: CrdDescription): string[] => {
  const { spec } = crd;
  const rules = spec === undefined ? [] : [{ path: 'spec', schema: spec }, ...fieldsOf(spec, 'spec')].flatMap(rulesOf);
  return [
    `## ${crd.kind}`,
    crd.description,
    markdownTable(['', ''], factsOf(crd)),
    ...(spec === undefined ? [] : [fieldTable(spec, 'spec')]),
    ...(rules.length > 0 ? ['Rules:', markdownTable(['at', 'message when broken'], unique(rules))] : []),
    ...(crd.status === undefined ? [] : ['Status:', fieldTable(crd.status, 'status')]),
  ];
};

const fieldTable = (schema: StructuralSchema, path: string): string =>
  markdownTable(['field', 'type', 'limits', 'what it is'], fieldsOf(schema, path).map(row));

const factsOf = (crd: CrdDescription): string[][] => [
  ['API', code(`${crd.group}/${crd.version}`)],
  ['scope', crd.scope === 'Namespaced' ? 'namespace' : 'cluster'],
  ['resource', code(crd.plural)],
  ...(crd.shortNames.length > 0 ? [['short names', crd.shortNames.map(code).join(', ')]] : []),
  ...(crd.categories.length > 0 ? [['categories', crd.categories.map(code).join(', ')]] : []),
  ['columns', crd.columns.map(({ name, priority = 0 }) => (priority > 0 ? `${name} (wide)` : name)).join(', ')],
];

interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
  readonly isRequired?: boolean;
}

/** Depth first, in the order of the schema. */
const fieldsOf = (schema: StructuralSchema, path: string): Field[] => {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, inner]): Field[] => {
    const field = { path: `${path}.${name}`, schema: inner, isRequired: required.includes(name) };
    return [field, ...fieldsOf(inner, field.path)];
  });
  return [...properties, ...(schema.items === undefined ? [] : fieldsOf(schema.items, `${path}[]`))];
};

const row = ({ path, schema, isRequired }: Field): string[] => [
  `${code(path)}${isRequired === true ? ' \\*' : ''}`,
  typeOf(schema),
  limitsOf(schema).join(', '),
  String(schema['description'] ?? ''),
];

const typeOf = ({ type, items, additionalProperties }: StructuralSchema): string => {
  if (items !== undefined) return `list of ${typeOf(items)}s`;
  return additionalProperties === undefined ? type : `map of ${typeOf(additionalProperties)}s`;
};

const limitsOf = (schema: StructuralSchema): string[] => [
  ...(Array.isArray(schema['enum']) ? [schema['enum'].map((value) => code(String(value))).join(' or ')] : []),
  ...range(schema['minimum'], schema['maximum'], ''),
  ...range(schema['minLength'], schema['maxLength'], ' characters'),
  ...range(schema['minItems'], schema['maxItems'], ' items'),
  ...range(schema['minProperties'], schema['maxProperties'], ' fields'),
  ...(schema['default'] === undefined ? [] : [`default ${code(JSON.stringify(schema['default']))}`]),
];

/** What JavaScript can count to is no limit of ours. */
const range = (min: unknown, max: unknown, unit: string): string[] => {
  const low = typeof min === 'number' && min > Number.MIN_SAFE_INTEGER ? min : undefined;
  const high = typeof max === 'number' && max < Number.MAX_SAFE_INTEGER ? max : undefined;
  if (low === undefined) return high === undefined ? [] : [`at most ${high}${unit}`];
  return high === undefined ? [`at least ${low}${unit}`] : [`${low}–${high}${unit}`];
};

/** Of a field, and of the items where it is a list: those have no line of their own. */
const rulesOf = ({ path, schema }: Field): string[][] => {
  const validations = (node: StructuralSchema): string[][] =>
    (Array.isArray(node[VALIDATIONS]) ? node[VALIDATIONS] : []).map(({ message, fieldPath = '' }) => [
      code(`${node === schema ? path : `${path}[]`}${fieldPath}`),
      String(message).replaceAll('|', '\\|'),
    ]);
  return [...validations(schema), ...(schema.items === undefined ? [] : validations(schema.items))];
};

const unique = (rows: readonly string[][]): string[][] => [
  ...new Map(rows.map((cells) => [cells.join('\n'), cells])).values(),
];

const code = (value: string): string => `\`${value}\``;
