/** Which keys of a map, or of a list with keys, one field manager owns alone (`metadata.managedFields`, FieldsV1). Pure. */
import { isRecord } from './is-record.ts';
import type { ManagedFieldsEntry } from './types.ts';

/**
 * As server-side apply would, when the manager no longer applies them: keys that another manager owns as well stay. All entries of
 * the manager count, whether it created, updated or applied the object.
 * @param path to the map or list, for example `['f:metadata', 'f:labels']`
 * @returns as FieldsV1 has them: `f:NAME` or `k:{"uid":"…"}`
 */
export const ownedAlone = (
  entries: readonly ManagedFieldsEntry[],
  manager: string,
  path: readonly string[],
): readonly string[] => {
  const own = new Set<string>();
  const others = new Set<string>();
  for (const entry of entries) {
    for (const key of keysAt(entry.fieldsV1, path)) (entry.manager === manager ? own : others).add(key);
  }
  return [...own].filter((key) => !others.has(key));
};

/** `.` stands for the map itself. */
const keysAt = (fields: unknown, path: readonly string[]): string[] => {
  let node = fields;
  for (const step of path) node = isRecord(node) ? node[step] : undefined;
  return isRecord(node) ? Object.keys(node).filter((key) => key !== '.') : [];
};
