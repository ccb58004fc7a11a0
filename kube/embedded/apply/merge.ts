/** The two halves of server-side apply: merging what is applied, and removing what is not applied any more. */
import { type Child, childrenOf, type FieldSchema, withChildren } from './field-schema.ts';
import { type FieldSet, readableElement } from './field-set.ts';

/** `applied` over `live`: fields that both have are applied's. */
export const mergeFields = (schema: FieldSchema, live: unknown, applied: unknown): unknown => {
  if (live === undefined || live === null) return applied;
  const old = childrenOf(schema, live);
  const now = childrenOf(schema, applied);
  if (old === undefined || now === undefined || Array.isArray(live) !== Array.isArray(applied)) return applied;
  const oldByElement = new Map(old.map((child) => [child.element, child]));
  const nowByElement = new Map(now.map((child) => [child.element, child]));
  const merged = mergedOrder([...oldByElement.keys()], [...nowByElement.keys()]).flatMap((element): Child[] => {
    const [before, after] = [oldByElement.get(element), nowByElement.get(element)];
    if (after === undefined) return before === undefined ? [] : [before];
    return [before === undefined ? after : { ...after, value: mergeFields(after.schema, before.value, after.value) }];
  });
  return withChildren(live, merged);
};

/**
 * Items that are applied in the order in which they are applied, those that only live has where they were among them
 * (structured-merge-diff `visitListItems`).
 */
const mergedOrder = (live: readonly string[], applied: readonly string[]): string[] => {
  const inApplied = new Set(applied);
  const shared = applied.filter((element) => live.includes(element));
  const order: string[] = [];
  const taken = new Set<string>();
  let at = 0;
  for (const element of applied) {
    // What only live has comes before the next item that both have, or that is new.
    for (; at < live.length; at += 1) {
      const own = live[at] ?? '';
      if (own === element) break;
      if (!inApplied.has(own)) order.push(own);
      else if (!taken.has(own) && own === shared[0]) break;
    }
    order.push(element);
    taken.add(element);
    if (shared[0] === element) shared.shift();
    if (live[at] === element) at += 1;
  }
  return [...order, ...live.slice(at).filter((own) => !inApplied.has(own))];
};

/**
 * Without the fields of `dropped`, unless one of `kept` is in them. Containers that become empty go with what was in them, or
 * become null.
 * @param dropped fields that their only owner does not apply any more
 * @param kept all fields that have an owner
 */
export const pruneFields = (schema: FieldSchema, value: unknown, dropped: FieldSet, kept: FieldSet): unknown => {
  const children = childrenOf(schema, value);
  if (children === undefined) return value;
  return withChildren(
    value,
    children.flatMap((child) =>
      pruneChild(child, dropped.children.get(child.element), kept.children.get(child.element)),
    ),
  );
};

const pruneChild = (child: Child, dropped: FieldSet | undefined, kept: FieldSet | undefined): Child[] => {
  if (dropped === undefined) return [child];
  // An item of a list stays for the owner of the item, not for that of one of its fields.
  const isKept = child.element.startsWith('k:') ? kept?.member === true : kept !== undefined;
  if (dropped.member && !isKept) return [];
  const before = childrenOf(child.schema, child.value);
  if (before === undefined) return [child];
  const value = pruneFields(child.schema, child.value, dropped, kept ?? { member: false, children: new Map() });
  const emptied = before.length > 0 && childrenOf(child.schema, value)?.length === 0;
  if (!emptied) return [{ ...child, value }];
  // A real server leaves a null where an object is applied as empty that had fields of the applier before.
  return kept?.member === true ? [{ ...child, value: null }] : [];
};

/**
 * An item of a list by key must have its key, and the key of no other.
 * @param refuse throws
 */
export const checkListKeys = (
  schema: FieldSchema,
  value: unknown,
  refuse: (problem: string) => never,
  path = '',
): void => {
  const children = childrenOf(schema, value) ?? [];
  const seen = new Set<string>();
  for (const { element, value: item, schema: own } of children) {
    if (schema.kind === 'list-map') {
      const present = Object.keys(JSON.parse(element.slice(2))).length;
      if (present < schema.keys.length) refuse(`${path}: element of associative list omits a key field`);
      if (seen.has(element)) refuse(`${path}: duplicate entries for key ${readableElement(element)}`);
      seen.add(element);
    }
    checkListKeys(own, item, refuse, path + readableElement(element));
  }
};
