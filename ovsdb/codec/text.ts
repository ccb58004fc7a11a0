/** Values as the text that goes over the wire, for what is written once and by the thousand: `encode.ts` makes objects of it first. */
import type { Base, Column } from '../schema/column.ts';
import type { WireAtom } from '../wire/notation.ts';
import { encodeAtom, encodeKey } from './encode.ts';

/** @throws SchemaError when the value is not of the type */
export const atomText = (base: Base, value: unknown): string =>
  base.type === 'string' && typeof value === 'string' ? JSON.stringify(value) : wireText(encodeAtom(base, value));

export const uuidText = (uuid: string): string => `["uuid","${uuid}"]`;

/** An element must not be in a set twice (RFC 7047 §5.1). */
export const setText = (elements: readonly string[]): string =>
  `["set",[${elements.length < 2 ? elements.join() : [...new Set(elements)].join()}]]`;

/** @param entries of the form that `entryText` gives */
export const mapText = (entries: readonly string[]): string => `["map",[${entries.join()}]]`;

export const entryText = ({ key: base }: Column, key: string, value: string): string =>
  `[${base.type === 'string' ? JSON.stringify(key) : wireText(encodeKey(base, key))},${value}]`;

const wireText = (atom: WireAtom): string => JSON.stringify(atom);
