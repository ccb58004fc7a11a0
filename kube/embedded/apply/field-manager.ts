/**
 * Field management (structured-merge-diff's Updater): what an apply and any other write do to an object and to the record
 * of who owns its fields. Pure.
 */

import { type JsonRecord, recordOr } from '../../is-record.ts';
import { jsonEqual } from '../../json-equal.ts';
import type { FieldSchema } from './field-schema.ts';
import {
  compareFields,
  difference,
  EMPTY,
  type FieldSet,
  fieldsOf,
  intersection,
  isEmpty,
  pathsOf,
  union,
  without,
} from './field-set.ts';
import { decodeManagers, encodeManagers, type Manager, type ManagerId, type Managers, managerKey } from './managers.ts';
import { mergeFields, pruneFields } from './merge.ts';

export interface FieldContext {
  readonly schema: FieldSchema;
  readonly id: ManagerId;
  /** Now, RFC 3339. */
  readonly time: string;
  /** Fields that this request can't change and therefore not own, for example `['f:status']`. */
  readonly reset: readonly (readonly string[])[];
}

/** A field of another manager that an apply would change. */
export interface FieldConflict {
  readonly manager: ManagerId & { readonly time: string };
  readonly fields: readonly string[];
}

export type ApplyResult = { readonly object: JsonRecord } | { readonly conflicts: readonly FieldConflict[] };

/**
 * Server-side apply.
 * @param live undefined when the object is created
 */
export const applyFields = (
  { schema, id, time, reset }: FieldContext,
  live: JsonRecord | undefined,
  applied: JsonRecord,
  force: boolean,
): ApplyResult => {
  const key = managerKey(id);
  const managers = managersBeforeApply({ schema, id, time, reset }, live);
  const set = owned(fieldsOf(schema, applied), reset);
  const last = managers.get(key)?.set ?? EMPTY;
  const others = new Map([...managers].filter(([other]) => other !== key));
  const kept = [...others.values()].reduce((all, manager) => union(all, manager.set), set);
  const merged = mergeFields(schema, live, withoutReset(applied, reset));
  const pruned = recordOr(pruneFields(schema, merged, difference(last, kept), kept));
  const { changed, removed } = changes(schema, live, pruned, reset);
  const conflicts = conflictsWith(others, changed);
  if (conflicts.length > 0 && !force) return { conflicts };
  const mine: Manager = { ...id, set, time: jsonFields(last, set) ? (managers.get(key)?.time ?? time) : time };
  return { object: withManagers(pruned, new Map([...losing(others, union(changed, removed)), [key, mine]])) };
};

/**
 * Any other write: what it changes it owns, and takes from others.
 * @param live undefined when the object is created
 */
export const updateFields = (
  { schema, id, time, reset }: FieldContext,
  live: JsonRecord | undefined,
  next: JsonRecord,
): JsonRecord => {
  const key = managerKey(id);
  const { changed, removed } = changes(schema, live, next, reset);
  const managers = managersOf(live, next);
  // Nobody owns anything because somebody emptied the record: it restarts with the next apply.
  if (live !== undefined && managers.size === 0) return withManagers(next, managers);
  const before = managers.get(key);
  const set = difference(union(before?.set ?? EMPTY, changed), removed);
  const others = new Map([...managers].filter(([other]) => other !== key));
  const mine: Manager = { ...id, set, time: isEmpty(changed) ? (before?.time ?? time) : time };
  return withManagers(next, new Map([...losing(others, union(changed, removed)), [key, mine]]));
};

/** Fields of an object without a record belong to everybody who wrote it before. */
const managersBeforeApply = ({ schema, id, time, reset }: FieldContext, live: JsonRecord | undefined): Managers => {
  const managers = decodeManagers(recordOr(live?.['metadata'])['managedFields']);
  if (live === undefined || managers.size > 0) return managers;
  const before: ManagerId = { ...id, manager: 'before-first-apply', operation: 'Update', subresource: '' };
  const { changed } = changes(schema, undefined, live, reset);
  return new Map([[managerKey(before), { ...before, time, set: changed }]]);
};

/** A client may rewrite the record itself, or empty it with one empty entry; otherwise it is the live one's. */
const managersOf = (live: JsonRecord | undefined, next: JsonRecord): Managers => {
  const given = recordOr(next['metadata'])['managedFields'];
  if (Array.isArray(given) && given.length > 0) return decodeManagers(given);
  return decodeManagers(recordOr(live?.['metadata'])['managedFields']);
};

const changes = (
  schema: FieldSchema,
  live: JsonRecord | undefined,
  next: JsonRecord,
  reset: FieldContext['reset'],
): { changed: FieldSet; removed: FieldSet } => {
  const { added, modified, removed } = compareFields(schema, live ?? {}, next, jsonEqual);
  return { changed: owned(union(added, modified), reset), removed: owned(removed, reset) };
};

/** Fields that name the object or are the server's have no manager. */
const UNOWNED = [
  ['f:apiVersion'],
  ['f:kind'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
];

const owned = (set: FieldSet, reset: FieldContext['reset']): FieldSet => {
  const rest = without(set, [...UNOWNED, ...reset]);
  const metadata = rest.children.get('f:metadata');
  if (metadata === undefined) return rest;
  // The container itself belongs to nobody.
  const children = new Map(rest.children);
  if (metadata.children.size === 0) children.delete('f:metadata');
  else children.set('f:metadata', { ...metadata, member: false });
  return { ...rest, children };
};

const conflictsWith = (others: Managers, changed: FieldSet): FieldConflict[] =>
  [...others.values()].flatMap((manager) => {
    const fields = pathsOf(intersection(manager.set, changed));
    return fields.length === 0 ? [] : [{ manager, fields }];
  });

const losing = (others: Managers, lost: FieldSet): [string, Manager][] =>
  [...others].map(([key, manager]) => [key, { ...manager, set: difference(manager.set, lost) }]);

const jsonFields = (a: FieldSet, b: FieldSet): boolean => isEmpty(difference(a, b)) && isEmpty(difference(b, a));

const withManagers = (object: JsonRecord, managers: Managers): JsonRecord => {
  const metadata: Record<string, unknown> = { ...recordOr(object['metadata']) };
  delete metadata['managedFields'];
  const encoded = encodeManagers(managers);
  return { ...object, metadata: encoded.length === 0 ? metadata : { ...metadata, managedFields: encoded } };
};

const withoutReset = (object: JsonRecord, reset: FieldContext['reset']): JsonRecord => {
  const dropped = new Set(reset.filter((path) => path.length === 1).map(([element]) => element));
  return Object.fromEntries(Object.entries(object).filter(([name]) => !dropped.has(`f:${name}`)));
};
