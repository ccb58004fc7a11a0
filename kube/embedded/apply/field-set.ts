/** Sets of fields, as trees of path elements. Written as FieldsV1 in `metadata.managedFields`. */
import { isRecord } from '../../is-record.ts';
import { childrenOf, type FieldSchema } from './field-schema.ts';

export interface FieldSet {
  /** The field that this node stands for is in the set. */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const EMPTY: FieldSet = { member: false, children: new Map() };
const MEMBER: FieldSet = { member: true, children: new Map() };

/** All fields that `value` has. Items of lists by key are fields themselves, objects only when they are empty. */
export const fieldsOf = (schema: FieldSchema, value: unknown): FieldSet => {
  const parts = childrenOf(schema, value);
  if (parts === undefined) return MEMBER;
  if (parts.length === 0) return Array.isArray(value) ? EMPTY : MEMBER;
  const sets = parts.map((part): [string, FieldSet] => {
    const set = fieldsOf(part.schema, part.value);
    return [part.element, part.element.startsWith('k:') ? { ...set, member: true } : set];
  });
  return { member: false, children: new Map(sets.filter(([, set]) => !isEmpty(set))) };
};

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };

/** What makes `after` of `before`. New and removed containers are in the sets with all that is in them. */
export const compareFields = (
  schema: FieldSchema,
  before: unknown,
  after: unknown,
  equal: (a: unknown, b: unknown) => boolean,
): Comparison => {
  if (before === undefined && after === undefined) return SAME;
  if (before === undefined) return { ...SAME, added: everything(schema, after) };
  if (after === undefined) return { ...SAME, removed: everything(schema, before) };
  // A null has no parts: what an object had in its place is removed.
  const old = before === null ? [] : childrenOf(schema, before);
  const now = after === null ? [] : childrenOf(schema, after);
  const isWhole = old === undefined || now === undefined || (old.length === 0 && now.length === 0);
  if (isWhole) return equal(before, after) ? SAME : { ...SAME, modified: MEMBER };
  const oldByElement = new Map(old.map((part) => [part.element, part]));
  const nowByElement = new Map(now.map((part) => [part.element, part]));
  const parts = [...nowByElement.keys(), ...[...oldByElement.keys()].filter((element) => !nowByElement.has(element))];
  const results = parts.map((element) => {
    const [a, b] = [oldByElement.get(element), nowByElement.get(element)];
    return [element, compareFields((b ?? a)?.schema ?? schema, a?.value, b?.value, equal)] as const;
  });
  return {
    added: gather(results, 'added'),
    modified: gather(results, 'modified'),
    removed: gather(results, 'removed'),
  };
};

const everything = (schema: FieldSchema, value: unknown): FieldSet => ({
  member: true,
  children: new Map(
    (childrenOf(schema, value) ?? []).map((part) => [part.element, everything(part.schema, part.value)]),
  ),
});

const gather = (results: readonly (readonly [string, Comparison])[], which: keyof Comparison): FieldSet => ({
  member: false,
  children: new Map(
    results.map(([element, comparison]) => [element, comparison[which]] as const).filter(([, set]) => !isEmpty(set)),
  ),
});

export const isEmpty = (set: FieldSet): boolean => !set.member && set.children.size === 0;

export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const children = new Map(a.children);
  for (const [element, child] of b.children) children.set(element, union(children.get(element) ?? EMPTY, child));
  return { member: a.member || b.member, children };
};

export const difference = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isEmpty(b)) return a;
  return {
    member: a.member && !b.member,
    children: prunedChildren(a, (element, child) => difference(child, b.children.get(element) ?? EMPTY)),
  };
};

export const intersection = (a: FieldSet, b: FieldSet): FieldSet => ({
  member: a.member && b.member,
  children: prunedChildren(a, (element, child) => {
    const other = b.children.get(element);
    return other === undefined ? EMPTY : intersection(child, other);
  }),
});

const prunedChildren = (
  set: FieldSet,
  change: (element: string, child: FieldSet) => FieldSet,
): ReadonlyMap<string, FieldSet> => {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) {
    const next = change(element, child);
    if (!isEmpty(next)) children.set(element, next);
  }
  return children;
};

/** Without the fields at these paths and all that is below them. */
export const without = (set: FieldSet, paths: readonly (readonly string[])[]): FieldSet => ({
  member: set.member,
  children: prunedChildren(set, (element, child) => {
    const below = paths.filter(([first]) => first === element).map(([, ...rest]) => rest);
    if (below.some((rest) => rest.length === 0)) return EMPTY;
    return below.length === 0 ? child : without(child, below);
  }),
});

/** The members as readable paths, for example `.spec.containers[name="web"].image`. */
export const pathsOf = (set: FieldSet, prefix = ''): string[] => [
  ...(set.member && prefix !== '' ? [prefix] : []),
  ...[...set.children].flatMap(([element, child]) => pathsOf(child, prefix + readableElement(element))),
];

/** `.image`, `[name="web"]` or `[="text"]`. */
export const readableElement = (element: string): string => {
  if (element.startsWith('f:')) return `.${element.slice(2)}`;
  const body: unknown = JSON.parse(element.slice(2));
  if (!isRecord(body)) return `[=${element.slice(2)}]`;
  return `[${Object.entries(body)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`;
};

/** FieldsV1. */
export const encodeFields = (set: FieldSet): Record<string, unknown> => ({
  ...(set.member && set.children.size > 0 ? { '.': {} } : {}),
  ...Object.fromEntries([...set.children].map(([element, child]) => [element, encodeFields(child)])),
});

/** The inverse; what is no FieldsV1 is left out. */
export const decodeFields = (fields: unknown, isRoot = true): FieldSet => {
  const record = isRecord(fields) ? fields : {};
  const elements = Object.entries(record).filter(([element]) => /^[fkv]:/.test(element));
  return {
    member: !isRoot && ('.' in record || elements.length === 0),
    children: new Map(elements.map(([element, child]) => [element, decodeFields(child, false)])),
  };
};
