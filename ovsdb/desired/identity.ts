/**
 * Texts that stand for rows and elements, so that they can be keys of maps. A row of ours is its key; everything else
 * begins with a NUL, which no key does.
 */
import type { DesiredElement, ForeignRef, RowRef } from './types.ts';

/** A row that is desired, referred to or changed. */
export type TargetId = string;
/** An element of a set column: of references the target, of anything else its text. */
export type ElementId = string;

const SEPARATOR = '\0';

export const isRowRef = (value: unknown): value is RowRef =>
  typeof value === 'object' && value !== null && 'ref' in value && typeof value.ref === 'string';

export const isForeignRef = (value: unknown): value is ForeignRef =>
  typeof value === 'object' && value !== null && 'at' in value && 'table' in value && typeof value.table === 'string';

export const targetId = (row: string | ForeignRef): TargetId => (typeof row === 'string' ? row : foreignId(row));

export const foreignId = ({ table, at }: ForeignRef): TargetId => {
  const columns = Object.keys(at).sort();
  return [`${SEPARATOR}at`, table, ...columns.flatMap((column) => [column, String(at[column])])].join(SEPARATOR);
};

/** The only row of its table. */
export const onlyRowId = (table: string): TargetId => `${SEPARATOR}only${SEPARATOR}${table}`;

/** A row that is in the database, whatever else is known of it. */
export const uuidId = (uuid: string): TargetId => `${SEPARATOR}uuid${SEPARATOR}${uuid}`;

export const elementId = (value: DesiredElement): ElementId => {
  if (isRowRef(value)) return value.ref;
  return isForeignRef(value) ? foreignId(value) : String(value);
};

export type ParsedTarget =
  | { readonly kind: 'own'; readonly key: string }
  | { readonly kind: 'uuid'; readonly uuid: string }
  | { readonly kind: 'only'; readonly table: string }
  | { readonly kind: 'at'; readonly table: string; readonly at: Readonly<Record<string, string>> };

export const parseTarget = (id: TargetId): ParsedTarget => {
  if (!id.startsWith(SEPARATOR)) return { kind: 'own', key: id };
  const [, kind, name = '', ...rest] = id.split(SEPARATOR);
  if (kind === 'uuid') return { kind, uuid: name };
  if (kind === 'only') return { kind, table: name };
  const at: Record<string, string> = {};
  for (let index = 0; index + 1 < rest.length; index += 2) at[rest[index] ?? ''] = rest[index + 1] ?? '';
  return { kind: 'at', table: name, at };
};

/** For messages: `Bridge name=br-int`. */
export const describeTarget = (id: TargetId): string => {
  const target = parseTarget(id);
  switch (target.kind) {
    case 'own':
      return `"${target.key}"`;
    case 'uuid':
      return target.uuid;
    case 'only':
      return `the row of ${target.table}`;
    case 'at':
      return `${target.table} ${Object.entries(target.at)
        .map(([column, value]) => `${column}=${value}`)
        .join(', ')}`;
  }
};
