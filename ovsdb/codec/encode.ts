/** From values to the wire: RFC 7047 §5.1. */
import { SchemaError } from '../errors.ts';
import type { Base, Column } from '../schema/column.ts';
import { isUuid } from '../uuid.ts';
import type { WireAtom, WireMap, WireSet, WireValue } from '../wire/notation.ts';
import { isMapValue, isSetValue } from './value.ts';

/** How one element is written; callers that have their own kinds of references bring their own. */
export type AtomEncoder = (base: Base, value: unknown) => WireAtom;

/** @throws SchemaError when the value is not of the column's type */
export const encodeValue = (column: Column, value: unknown, atom: AtomEncoder = encodeAtom): WireValue => {
  switch (column.kind) {
    case 'scalar':
      return atom(column.key, value);
    case 'optional':
      return value === undefined ? ['set', []] : atom(column.key, value);
    case 'set':
      return encodeSet(column.key, value, atom);
    case 'map':
      return encodeMap(column, value, atom);
  }
};

export const encodeSet = (base: Base, value: unknown, atom: AtomEncoder = encodeAtom): WireSet => {
  if (!isSetValue(value)) throw mismatch('a set', value);
  return ['set', value.map((element) => atom(base, element))];
};

/** Entries whose value is undefined are left out. */
export const encodeMap = ({ key, value: mapped }: Column, value: unknown, atom: AtomEncoder = encodeAtom): WireMap => {
  if (!isMapValue(value) || mapped === undefined) throw mismatch('a map', value);
  const entries = Object.entries(value).filter(([, element]) => element !== undefined);
  return ['map', entries.map(([name, element]) => [encodeKey(key, name), atom(mapped, element)])];
};

/** A record's keys are strings, whatever the schema says of them. */
export const encodeKey = (base: Base, key: string): WireAtom => {
  switch (base.type) {
    case 'integer':
    case 'real':
      return encodeAtom(base, Number(key));
    case 'boolean':
      return key === 'true';
    default:
      return encodeAtom(base, key);
  }
};

export const encodeAtom: AtomEncoder = ({ type }, value) => {
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'integer':
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case 'real':
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      break;
    case 'uuid':
      if (isUuid(value)) return ['uuid', value];
      break;
  }
  throw mismatch(type, value);
};

const mismatch = (what: string, value: unknown): SchemaError =>
  new SchemaError(`expected ${what}, got ${JSON.stringify(value)?.slice(0, 80) ?? String(value)}`);
