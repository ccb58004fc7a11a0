/** Reads a schema as `get_schema` and .ovsschema files give it: RFC 7047 §3.2. */
import { SchemaError } from '../errors.ts';
import { isObject, type JsonObject } from '../wire/notation.ts';
import type { AtomType, Base, Column } from './column.ts';
import type { DatabaseModel, TableModel } from './model.ts';

/**
 * Members that this reader does not know are ignored, so that schemas of newer servers can be read.
 * @throws SchemaError that names the path of what is wrong
 */
export const parseSchema = (schema: unknown): DatabaseModel => {
  const { name, version, tables } = object(schema, 'schema');
  const entries = Object.entries(object(tables, 'tables'));
  // RFC 7047 §3.2: where no table is marked as root, all are.
  const allAreRoots = !entries.some(([, table]) => isObject(table) && table['isRoot'] === true);
  return {
    name: string(name, 'name'),
    version: version === undefined ? '0.0.0' : string(version, 'version'),
    tables: Object.fromEntries(entries.map(([table, value]) => [table, parseTable(value, table, allAreRoots)])),
  };
};

const parseTable = (value: unknown, path: string, allAreRoots: boolean): TableModel => {
  const { columns, indexes, isRoot, maxRows } = object(value, path);
  return {
    columns: Object.fromEntries(
      Object.entries(object(columns, `${path}.columns`)).map(([column, schema]) => [
        column,
        parseColumn(schema, `${path}.${column}`),
      ]),
    ),
    indexes: indexes === undefined ? [] : array(indexes, `${path}.indexes`).map((index) => strings(index, path)),
    isRoot: allAreRoots || isRoot === true,
    ...(typeof maxRows === 'number' && { maxRows }),
  };
};

const parseColumn = (value: unknown, path: string): Column => {
  const { type, ephemeral, mutable } = object(value, path);
  return {
    ...parseType(type, path),
    ...(ephemeral === true && { ephemeral }),
    ...(mutable === false && { immutable: true as const }),
  };
};

const parseType = (type: unknown, path: string): Column => {
  if (typeof type === 'string') return { kind: 'scalar', key: parseBase(type, path), min: 1, max: 1 };
  const { key, value, min = 1, max = 1 } = object(type, path);
  const limits = { min: number(min, path), max: max === 'unlimited' ? Number.POSITIVE_INFINITY : number(max, path) };
  if (value !== undefined) return { kind: 'map', key: parseBase(key, path), value: parseBase(value, path), ...limits };
  const kind = limits.max > 1 ? 'set' : limits.min === 0 ? 'optional' : 'scalar';
  return { kind, key: parseBase(key, path), ...limits };
};

const parseBase = (base: unknown, path: string): Base => {
  if (typeof base === 'string') return { type: atomType(base, path) };
  const { type, refTable, refType, enum: choices, minLength, maxLength } = object(base, path);
  return {
    type: atomType(type, path),
    ...(typeof refTable === 'string' && { refTable }),
    ...(refType === 'weak' && { weak: true as const }),
    ...(choices !== undefined && { enum: parseEnum(choices, path) }),
    ...(typeof minLength === 'number' && { minLength }),
    ...(typeof maxLength === 'number' && { maxLength }),
  };
};

/** A `<value>`: one atom, or a set of them. */
const parseEnum = (choices: unknown, path: string): (string | number | boolean)[] => {
  const atoms = Array.isArray(choices) && choices[0] === 'set' ? array(choices[1], path) : [choices];
  return atoms.map((atom) => {
    if (typeof atom === 'string' || typeof atom === 'number' || typeof atom === 'boolean') return atom;
    throw new SchemaError(`${path}: an enum of something that is not an atom`);
  });
};

const ATOM_TYPES: ReadonlySet<unknown> = new Set<AtomType>(['string', 'integer', 'real', 'boolean', 'uuid']);
const isAtomType = (value: unknown): value is AtomType => ATOM_TYPES.has(value);

const atomType = (value: unknown, path: string): AtomType => {
  if (isAtomType(value)) return value;
  throw new SchemaError(`${path}: "${String(value)}" is not an atomic type`);
};

const object = (value: unknown, path: string): JsonObject => {
  if (isObject(value)) return value;
  throw new SchemaError(`${path}: not an object`);
};

const array = (value: unknown, path: string): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw new SchemaError(`${path}: not an array`);
};

const string = (value: unknown, path: string): string => {
  if (typeof value === 'string') return value;
  throw new SchemaError(`${path}: not a string`);
};

const strings = (value: unknown, path: string): string[] => array(value, path).map((item) => string(item, path));

const number = (value: unknown, path: string): number => {
  if (typeof value === 'number') return value;
  throw new SchemaError(`${path}: not a number`);
};
