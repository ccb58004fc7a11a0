/** Texts for what held units wait for. A change of the database gives the tokens of everything it may have freed. */

import type { AnyRow } from '../../replica/row.ts';
import { uniqueIndexName } from '../../replica/row-store.ts';
import { tableModel } from '../../schema/model.ts';
import { foreignId, onlyRowId, type TargetId, uuidId } from '../identity.ts';
import type { ActualRows } from './actual-rows.ts';

/** A target by its id: a row of ours with a key, or a row with certain values. */
export const targetToken = (target: TargetId): string => `target ${target}`;

/** An owner whose transactions are not refused any more. */
export const ownerToken = (owner: string): string => `owner ${owner}`;

/** A row that occupies a place in a unique index. */
export const indexToken = (table: string, index: readonly string[], row: AnyRow): string =>
  targetToken(indexTarget(table, index, row));

/** The tokens of a row that came, changed or went. */
export const tokensOf = (actual: ActualRows, table: string, row: AnyRow): string[] => [
  targetToken(onlyRowId(table)),
  targetToken(uuidId(row._uuid)),
  ...uniqueTargets(actual, table, row).map(targetToken),
  ...[actual.keyOf(table, row)].flatMap((key) => (key === undefined ? [] : [targetToken(key)])),
];

/** The ids by which members and patches can mean this row, besides its key. */
export const uniqueTargets = (actual: ActualRows, table: string, row: AnyRow): TargetId[] =>
  (tableModel(actual.model, table)?.indexes ?? [])
    .filter((index) => actual.store.hasIndex(table, uniqueIndexName(index)))
    .map((index) => indexTarget(table, index, row));

const indexTarget = (table: string, index: readonly string[], row: AnyRow): TargetId =>
  foreignId({ table, at: Object.fromEntries(index.map((column) => [column, String(row[column])])) });
