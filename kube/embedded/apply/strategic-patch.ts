/**
 * Strategic merge patch (Kubernetes community, "strategic-merge-patch.md"): lists of the built-in kinds are merged by key.
 * Where the schema gives a list several keys the first one is the patch's.
 */
import { isRecord, type JsonRecord } from '../../is-record.ts';
import { badRequest } from '../status-error.ts';
import type { FieldSchema } from './field-schema.ts';
import { ANY } from './field-schema.ts';

/** @throws StatusError 400 for a directive that can't be understood */
export const applyStrategicPatch = (schema: FieldSchema, target: JsonRecord, patch: JsonRecord): JsonRecord =>
  mergeMap(schema, target, patch);

const mergeMap = (schema: FieldSchema, target: JsonRecord, patch: JsonRecord): JsonRecord => {
  const directive = patch['$patch'];
  if (directive === 'replace') return plain(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw badRequest(`unknown $patch directive ${directive}`);
  const result: Record<string, unknown> = retained(target, patch['$retainKeys']);
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    const merged = mergeField(fieldSchema(schema, name), result[name], value, patch[`$setElementOrder/${name}`]);
    if (merged === undefined) delete result[name];
    else result[name] = merged;
  }
  for (const [name, value] of Object.entries(patch)) applyListDirective(schema, result, patch, name, value);
  return result;
};

/** `$retainKeys` lists all keys that may stay: it clears the other members of a union. */
const retained = (target: JsonRecord, keys: unknown): Record<string, unknown> =>
  Array.isArray(keys)
    ? Object.fromEntries(Object.entries(target).filter(([name]) => keys.includes(name)))
    : { ...target };

/** @returns undefined when the field is removed */
const mergeField = (schema: FieldSchema, target: unknown, patch: unknown, order: unknown): unknown => {
  if (patch === null) return undefined;
  if (isRecord(patch)) return mergeMap(schema, isRecord(target) ? target : {}, patch);
  if (!Array.isArray(patch)) return patch;
  const list: readonly unknown[] = Array.isArray(target) ? target : [];
  const desiredOrder: readonly unknown[] = Array.isArray(order) ? order : patch;
  if (schema.kind === 'list-set') return inOrder([...new Set([...list, ...patch])], list, identity, desiredOrder);
  return schema.kind === 'list-map' ? mergeList(schema, list, patch, desiredOrder) : patch;
};

type ListMap = Extract<FieldSchema, { kind: 'list-map' }>;

const mergeList = (
  schema: ListMap,
  target: readonly unknown[],
  patch: readonly unknown[],
  order: readonly unknown[],
): unknown[] => {
  const items = patch.filter(isRecord);
  if (items.some((item) => item['$patch'] === 'replace')) return items.filter((item) => !('$patch' in item)).map(plain);
  const key = schema.keys[0]?.name ?? 'name';
  let result: unknown[] = [...target];
  for (const item of items) {
    if (item[key] === undefined)
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((other) => isRecord(other) && other[key] === item[key]);
    if (item['$patch'] === 'delete') result = result.filter((_, i) => i !== at);
    else if (at < 0) result.push(mergeMap(schema.items, {}, item));
    else result[at] = mergeMap(schema.items, result[at] as JsonRecord, item);
  }
  return inOrder(result, target, byKey(key), order);
};

type Identity = (item: unknown) => unknown;

const identity: Identity = (item) => item;

const byKey =
  (key: string): Identity =>
  (item) =>
    isRecord(item) ? item[key] : item;

/**
 * The items that the patch names in its order, the others in theirs, and both together as they were: kubectl's
 * `mergeSortedSlice`.
 */
const inOrder = (
  items: readonly unknown[],
  before: readonly unknown[],
  idOf: Identity,
  order: readonly unknown[],
): unknown[] => {
  const desired = order.map(idOf);
  const old = before.map(idOf);
  const named = items.filter((item) => desired.includes(idOf(item)));
  const mine = named.toSorted((a, b) => desired.indexOf(idOf(a)) - desired.indexOf(idOf(b)));
  const others = items.filter((item) => !desired.includes(idOf(item)));
  const result: unknown[] = [];
  while (mine.length > 0 && others.length > 0) {
    const [other, own] = [old.indexOf(idOf(others[0])), old.indexOf(idOf(mine[0]))];
    result.push(other >= 0 && own >= 0 && other < own ? others.shift() : mine.shift());
  }
  return [...result, ...mine, ...others];
};

/** `$deleteFromPrimitiveList/X`, and `$setElementOrder/X` where the patch has no X of its own. */
const applyListDirective = (
  schema: FieldSchema,
  result: Record<string, unknown>,
  patch: JsonRecord,
  directive: string,
  value: unknown,
): void => {
  const [, action, name = ''] = /^\$(deleteFromPrimitiveList|setElementOrder)\/(.+)$/.exec(directive) ?? [];
  const list = result[name];
  if (action === undefined || !Array.isArray(list)) return;
  if (action === 'deleteFromPrimitiveList') {
    result[name] = list.filter((item) => !(Array.isArray(value) && value.includes(item)));
  } else if (!(name in patch) && Array.isArray(value)) {
    const field = fieldSchema(schema, name);
    const key = field.kind === 'list-map' ? field.keys[0]?.name : undefined;
    result[name] = inOrder(list, list, key === undefined ? identity : byKey(key), value);
  }
};

const fieldSchema = (schema: FieldSchema, name: string): FieldSchema =>
  schema.kind === 'map' ? ((Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined) ?? schema.rest) : ANY;

/** Without directives. */
const plain = (value: JsonRecord): JsonRecord =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([name, child]) => !name.startsWith('$') && child !== null)
      .map(([name, child]) => [name, isRecord(child) ? plain(child) : child]),
  );
