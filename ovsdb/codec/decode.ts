/** From the wire (RFC 7047 §5.1) to values. */
import { ProtocolError } from '../errors.ts';
import type { AtomType, Column } from '../schema/column.ts';
import { EMPTY_MAP, EMPTY_SET, newEntries, type Scalar, type Value } from './value.ts';

/** @throws ProtocolError when the value is not of the column's type */
export type Decoder = (wire: unknown) => Value;

/** The function that reads a column's values, chosen once. */
export const decoderOf = ({ kind, key, value }: Column): Decoder => {
  const element = ATOMS[key.type];
  switch (kind) {
    case 'scalar':
      return element;
    case 'optional':
      return (wire) => (isTagged(wire, 'set') ? atMostOne(wire[1], element) : element(wire));
    case 'set':
      return (wire) => (isTagged(wire, 'set') ? elements(wire[1], element) : [element(wire)]);
    case 'map': {
      const mapped = ATOMS[value?.type ?? 'string'];
      return (wire) => entries(isTagged(wire, 'map') ? wire[1] : undefined, element, mapped);
    }
  }
};

type AtomDecoder = (wire: unknown) => Scalar;

const string: AtomDecoder = (wire) => (typeof wire === 'string' ? wire : unexpected('a string', wire));
const number: AtomDecoder = (wire) => (typeof wire === 'number' ? wire : unexpected('a number', wire));
const boolean: AtomDecoder = (wire) => (typeof wire === 'boolean' ? wire : unexpected('a boolean', wire));
const uuid: AtomDecoder = (wire) => {
  const text: unknown = isTagged(wire, 'uuid') ? wire[1] : undefined;
  return typeof text === 'string' ? text : unexpected('a uuid', wire);
};

const ATOMS: Readonly<Record<AtomType, AtomDecoder>> = { string, integer: number, real: number, boolean, uuid };

const atMostOne = (list: unknown, element: AtomDecoder): Value => {
  if (!Array.isArray(list) || list.length > 1) return unexpected('at most one element', list);
  return list.length === 0 ? undefined : element(list[0]);
};

const elements = (list: unknown, element: AtomDecoder): Value => {
  if (!Array.isArray(list)) return unexpected('a set', list);
  if (list.length === 0) return EMPTY_SET;
  const result: Scalar[] = new Array(list.length);
  for (let index = 0; index < list.length; index++) result[index] = element(list[index]);
  return result;
};

const entries = (list: unknown, key: AtomDecoder, value: AtomDecoder): Value => {
  if (!Array.isArray(list)) return unexpected('a map', list);
  if (list.length === 0) return EMPTY_MAP;
  const result = newEntries();
  for (const pair of list) {
    if (!Array.isArray(pair) || pair.length !== 2) return unexpected('a pair', pair);
    result[String(key(pair[0]))] = value(pair[1]);
  }
  return result;
};

const isTagged = (wire: unknown, tag: string): wire is readonly unknown[] =>
  Array.isArray(wire) && wire.length === 2 && wire[0] === tag;

const unexpected = (what: string, wire: unknown): never => {
  throw new ProtocolError(`expected ${what}, got ${JSON.stringify(wire)?.slice(0, 80)}`);
};
