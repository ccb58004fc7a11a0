/** Applies the three formats in which a monitor sends rows: RFC 7047 §4.1.6, ovsdb-server(7) "Update2 Notification". */
import { ProtocolError } from '../errors.ts';
import type { Uuid } from '../uuid.ts';
import { isObject, type JsonObject } from '../wire/notation.ts';
import type { RowChange } from './row.ts';
import { type Table, uuidOf } from './table.ts';

/** 1 is `<table-updates>` of `monitor`, 2 is `<table-updates2>` of `monitor_cond` and `monitor_cond_since`. */
export type UpdateFormat = 1 | 2;

type Tables = ReadonlyMap<string, Table>;

/** Applies changes to what is there. @param changes gets them, also those before what cannot be read */
export const applyUpdates = (tables: Tables, format: UpdateFormat, updates: unknown, changes: RowChange[]): void => {
  forEachRow(tables, updates, (table, uuid, update) => {
    const change = format === 2 ? applyUpdate2(table, uuid, update) : applyUpdate1(table, uuid, update);
    push(changes, change);
  });
};

/** Replaces everything by the rows of `updates`. @param changes gets rows that really differ, as those of `applyUpdates` */
export const replaceRows = (tables: Tables, format: UpdateFormat, updates: unknown, changes: RowChange[]): void => {
  const stale = new Map([...tables.values()].map((table) => [table, new Set(table.rows.keys())]));
  forEachRow(tables, updates, (table, uuid, update) => {
    stale.get(table)?.delete(uuid);
    push(changes, table.put(uuid, table.decode(uuid, wholeRow(format, update))));
  });
  for (const [table, uuids] of stale) for (const uuid of uuids) push(changes, table.remove(uuid));
};

const forEachRow = (
  tables: Tables,
  updates: unknown,
  visit: (table: Table, uuid: Uuid, update: JsonObject) => void,
): void => {
  for (const [name, rows] of Object.entries(object(updates))) {
    const table = tables.get(name);
    if (table === undefined) continue;
    const byUuid = object(rows);
    for (const uuid of Object.keys(byUuid)) visit(table, uuidOf(uuid), object(byUuid[uuid]));
  }
};

const applyUpdate2 = (table: Table, uuid: Uuid, update: JsonObject): RowChange | undefined => {
  if ('modify' in update) return table.modify(uuid, update['modify']);
  if ('insert' in update || 'initial' in update) return table.put(uuid, table.decode(uuid, wholeRow(2, update)));
  if ('delete' in update) return table.remove(uuid);
  throw new ProtocolError(`${table.name} ${uuid}: an update without initial, insert, modify or delete`);
};

const applyUpdate1 = (table: Table, uuid: Uuid, update: JsonObject): RowChange | undefined =>
  update['new'] === undefined ? table.remove(uuid) : table.put(uuid, table.decode(uuid, update['new']));

const wholeRow = (format: UpdateFormat, update: JsonObject): unknown =>
  format === 1 ? update['new'] : (update['initial'] ?? update['insert']);

const object = (value: unknown): JsonObject => {
  if (isObject(value)) return value;
  throw new ProtocolError('an update is not an object of objects');
};

const push = (changes: RowChange[], change: RowChange | undefined): void => {
  if (change !== undefined) changes.push(change);
};
