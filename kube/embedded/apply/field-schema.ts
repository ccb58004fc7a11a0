/**
 * How objects are cut into fields that managers own and patches merge (Kubernetes API concepts, "Merge strategy"). What a
 * schema does not know is deduced from the value: objects are merged key by key, lists are one field.
 */
import { isRecord } from '../../is-record.ts';

export type FieldSchema =
  /** A scalar, or something that is replaced as a whole. */
  | { readonly kind: 'leaf' }
  /** Unknown: deduced. */
  | { readonly kind: 'any' }
  | { readonly kind: 'map'; readonly fields: Readonly<Record<string, FieldSchema>>; readonly rest: FieldSchema }
  /** A list of objects that some of their fields identify. */
  | { readonly kind: 'list-map'; readonly keys: readonly ListKey[]; readonly items: FieldSchema }
  /** A list of scalars in which none is twice. */
  | { readonly kind: 'list-set' };

export interface ListKey {
  readonly name: string;
  /** What an absent key field means. */
  readonly default?: string;
}

export const LEAF: FieldSchema = { kind: 'leaf' };
export const ANY: FieldSchema = { kind: 'any' };
export const SET: FieldSchema = { kind: 'list-set' };

export const mapOf = (fields: Readonly<Record<string, FieldSchema>>, rest: FieldSchema = ANY): FieldSchema => ({
  kind: 'map',
  fields,
  rest,
});

/** @param keys `name`, or `name=default` */
export const listBy = (keys: readonly string[], items: FieldSchema = ANY): FieldSchema => ({
  kind: 'list-map',
  keys: keys.map((key) => {
    const [name = '', fallback] = key.split('=');
    return fallback === undefined ? { name } : { name, default: fallback };
  }),
  items,
});

/** Metadata is the same for all kinds. */
export const OBJECT_META = mapOf({ finalizers: SET, ownerReferences: listBy(['uid'], LEAF), managedFields: LEAF });

/** A part of a value, under the path element that FieldsV1 gives it: `f:name`, `k:{"name":"a"}` or `v:"a"`. */
export interface Child {
  readonly element: string;
  readonly value: unknown;
  readonly schema: FieldSchema;
}

/** The parts of a value; undefined when it is one field. Null is a field without parts. */
export const childrenOf = (schema: FieldSchema, value: unknown): Child[] | undefined => {
  if (schema.kind === 'leaf') return undefined;
  if (isRecord(value) && (schema.kind === 'any' || schema.kind === 'map')) {
    return Object.entries(value).map(([name, child]) => ({
      element: `f:${name}`,
      value: child,
      schema: schema.kind === 'map' ? fieldOf(schema, name) : ANY,
    }));
  }
  if (!Array.isArray(value)) return undefined;
  if (schema.kind === 'list-set') {
    return value.map((item) => ({ element: `v:${JSON.stringify(item)}`, value: item, schema: LEAF }));
  }
  if (schema.kind === 'list-map') {
    return value.map((item) => ({ element: keyElement(schema.keys, item), value: item, schema: schema.items }));
  }
  return undefined;
};

/** True when a list has an item without any of the fields that identify its items: then nobody can own a part of it. */
export const hasUnkeyedItem = (schema: FieldSchema, value: unknown): boolean => {
  if (schema.kind === 'list-map' && Array.isArray(value)) {
    const { keys } = schema;
    if (value.some((item) => keys.every((key) => key.default === undefined && !hasKey(item, key.name)))) return true;
  }
  return (childrenOf(schema, value) ?? []).some((child) => hasUnkeyedItem(child.schema, child.value));
};

const hasKey = (item: unknown, name: string): boolean => isRecord(item) && Object.hasOwn(item, name);

/** The same kind of value with only some of its parts. */
export const withChildren = (value: unknown, children: readonly Child[]): unknown =>
  Array.isArray(value)
    ? children.map((child) => child.value)
    : Object.fromEntries(children.map((child) => [child.element.slice(2), child.value]));

const fieldOf = ({ fields, rest }: Extract<FieldSchema, { kind: 'map' }>, name: string): FieldSchema =>
  (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? rest;

/** Keys in alphabetical order, as structured-merge-diff writes them. */
const keyElement = (keys: readonly ListKey[], item: unknown): string => {
  const record = isRecord(item) ? item : {};
  const pairs = keys.map((key) => [key.name, record[key.name] ?? key.default] as const);
  return `k:${JSON.stringify(Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1))))}`;
};
