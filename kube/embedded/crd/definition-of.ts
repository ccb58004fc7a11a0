/** The kinds that a CustomResourceDefinition describes. */
import { age } from '../../age.ts';
import { isRecord, type JsonRecord, recordOr } from '../../is-record.ts';
import { versionsOf } from '../definitions/strategies/crd.ts';
import { STORED } from '../definitions/strategies/plain.ts';
import type { Column, Conversion, ResourceDefinition } from '../definitions/types.ts';
import { AGE, NAME } from '../table/cells.ts';
import { evaluateJsonPath } from '../table/json-path.ts';
import { fieldSchemaOf } from './schema-fields.ts';
import { parseStructuralSchema } from './structural-schema.ts';

/** One per served version. Versions differ in nothing but `apiVersion` (conversion strategy None). */
export const definitionsOf = (crd: JsonRecord): ResourceDefinition[] => {
  const spec = recordOr(crd['spec']);
  return versionsOf(spec)
    .filter(({ served }) => served !== false)
    .map((version) => definitionOf(spec, version));
};

export const collectionOf = (spec: JsonRecord): string =>
  `${String(spec['group'])}/${String(recordOr(spec['names'])['plural'])}`;

const definitionOf = (spec: JsonRecord, version: JsonRecord): ResourceDefinition => {
  const names = recordOr(spec['names']);
  const group = String(spec['group']);
  const name = String(version['name']);
  // The CRD's own rules have accepted it.
  const { schema = { type: 'object' } } = parseStructuralSchema(recordOr(version['schema'])['openAPIV3Schema']);
  return {
    group,
    version: name,
    plural: String(names['plural']),
    singular: String(names['singular']),
    kind: String(names['kind']),
    namespaced: spec['scope'] === 'Namespaced',
    shortNames: textsOf(names['shortNames']),
    categories: textsOf(names['categories']),
    collection: collectionOf(spec),
    custom: true,
    hasStatus: isRecord(recordOr(version['subresources'])['status']),
    hasGeneration: true,
    fields: fieldSchemaOf(schema),
    selectableFields: selectableOf(version),
    columns: columnsOf(version['additionalPrinterColumns']),
    strategy: STORED,
    schema,
    conversion: version['storage'] === true ? undefined : versionConversion(spec, group, name),
  };
};

const versionConversion = (spec: JsonRecord, group: string, version: string): Conversion => {
  const stored = versionsOf(spec).find(({ storage }) => storage === true);
  return {
    toStored: (object) => ({ ...object, apiVersion: `${group}/${String(stored?.['name'])}` }),
    fromStored: (object) => ({ ...object, apiVersion: `${group}/${version}` }),
  };
};

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const selectableOf = ({ selectableFields }: JsonRecord): string[] =>
  (Array.isArray(selectableFields) ? selectableFields : [])
    .map((field) => String(recordOr(field)['jsonPath'] ?? '').replace(/^\./, ''))
    .filter((path) => path !== '');

const TYPES: readonly string[] = ['string', 'integer', 'number', 'boolean', 'date'];

const columnsOf = (printed: unknown): Column[] => {
  if (!Array.isArray(printed) || printed.length === 0) return [NAME, AGE];
  return [NAME, ...printed.map(recordOr).map(columnOf)];
};

const columnOf = ({ name, type, format, description, priority, jsonPath }: JsonRecord): Column => {
  const path = String(jsonPath ?? '');
  return {
    name: String(name ?? ''),
    type: TYPES.includes(String(type)) ? (type as Column['type']) : 'string',
    format: typeof format === 'string' ? format : '',
    description: typeof description === 'string' ? description : '',
    priority: typeof priority === 'number' ? priority : 0,
    value: (object, now) => cell(evaluateJsonPath(path, object), String(type), now),
  };
};

const cell = (values: readonly unknown[], type: string, now: number): unknown => {
  const [value] = values;
  if (value === undefined || value === null) return type === 'date' ? '<unknown>' : null;
  if (type === 'date') return age(value, now);
  if (type !== 'string') return value;
  // The first is all that a real server shows.
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
