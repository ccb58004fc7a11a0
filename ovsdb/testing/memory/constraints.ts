/** What is done and checked when a transaction commits: RFC 7047 §3.2 "isRoot", "indexes", "refType" and §4.1.3. */
import { isMapValue, isSetValue, type Scalar, type SetValue, type Value } from '../../codec/value.ts';
import type { Base, Column } from '../../schema/column.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import { Failure } from './execute.ts';
import { type Contents, type Row, withRow } from './rows.ts';

/**
 * The contents without rows that nothing keeps alive and without weak references to rows that are gone.
 * @throws Failure when a strong reference points to nothing, a set has become too small, or an index has a value twice
 */
export const committed = (model: DatabaseModel, contents: Contents): Contents => {
  const alive = withoutOrphans(model, contents);
  checkStrongReferences(model, alive);
  const result = withoutDangling(model, alive);
  checkIndexes(model, result);
  return result;
};

const withoutOrphans = (model: DatabaseModel, contents: Contents): Contents => {
  const referred = new Set<string>();
  forEachReference(model, contents, ({ base, target }) => {
    if (!base.weak) referred.add(`${base.refTable} ${target}`);
  });
  let result = contents;
  for (const [table, rows] of contents) {
    if (model.tables[table]?.isRoot) continue;
    for (const uuid of rows.keys())
      if (!referred.has(`${table} ${uuid}`)) result = withRow(result, table, uuid, undefined);
  }
  return result === contents ? contents : withoutOrphans(model, result);
};

const checkStrongReferences = (model: DatabaseModel, contents: Contents): void =>
  forEachReference(model, contents, ({ table, uuid, name, base, target }) => {
    if (base.weak || contents.get(base.refTable ?? '')?.has(target)) return;
    throw new Failure(
      'referential integrity violation',
      `Table ${table} column ${name} row ${uuid} references nonexistent row ${target} in table ${base.refTable}.`,
    );
  });

const withoutDangling = (model: DatabaseModel, contents: Contents): Contents => {
  let result = contents;
  forEachReference(model, contents, ({ table, uuid, name, column, base, target }) => {
    if (!base.weak || contents.get(base.refTable ?? '')?.has(target)) return;
    const row = result.get(table)?.get(uuid);
    if (row === undefined) return;
    const value = withoutElement(row[name], target);
    if (isSetValue(value) && value.length < column.min) {
      throw new Failure('constraint violation', `Table ${table} row ${uuid} column ${name} would be too small`);
    }
    result = withRow(result, table, uuid, { ...row, [name]: value });
  });
  return result;
};

const withoutElement = (value: Value, target: string): Value => {
  if (isSetValue(value)) return value.filter((element) => element !== target);
  if (isMapValue(value)) return Object.fromEntries(Object.entries(value).filter(([, element]) => element !== target));
  return undefined;
};

const checkIndexes = (model: DatabaseModel, contents: Contents): void => {
  for (const [table, { indexes, maxRows }] of Object.entries(model.tables)) {
    const rows = contents.get(table) ?? new Map<string, Row>();
    if (maxRows !== undefined && rows.size > maxRows) {
      throw new Failure('constraint violation', `transaction causes "${table}" table to contain ${rows.size} rows`);
    }
    for (const index of indexes) checkIndex(table, index, rows);
  }
};

const checkIndex = (table: string, index: readonly string[], rows: ReadonlyMap<string, Row>): void => {
  const seen = new Map<string, string>();
  for (const [uuid, row] of rows) {
    const key = JSON.stringify(index.map((name) => row[name] ?? null));
    const other = seen.get(key);
    if (other !== undefined) {
      throw new Failure(
        'constraint violation',
        `Transaction causes multiple rows in "${table}" table to have identical values for index on ${index}. First row, with UUID ${other}. Second row, with UUID ${uuid}.`,
      );
    }
    seen.set(key, uuid);
  }
};

interface Reference {
  readonly table: string;
  readonly uuid: string;
  readonly name: string;
  readonly column: Column;
  readonly base: Base;
  readonly target: string;
}

const forEachReference = (model: DatabaseModel, contents: Contents, visit: (reference: Reference) => void): void => {
  for (const [table, { columns }] of Object.entries(model.tables)) {
    for (const [name, column] of Object.entries(columns)) {
      const base = [column.key, column.value].find((side) => side?.refTable !== undefined);
      if (base === undefined) continue;
      for (const [uuid, row] of contents.get(table) ?? []) {
        for (const target of targets(row[name])) visit({ table, uuid, name, column, base, target: String(target) });
      }
    }
  }
};

const targets = (value: Value): SetValue | readonly Scalar[] => {
  if (isSetValue(value)) return value;
  if (isMapValue(value)) return Object.values(value);
  return value === undefined ? [] : [value];
};
