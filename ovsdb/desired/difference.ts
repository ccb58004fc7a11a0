/**
 * How a database differs from its desired state, as text for people. It is what the planner would do, and nothing of
 * it is done.
 */
import type { OwnedDifference } from '../../base/reconciler.ts';
import type { Value } from '../codec/value.ts';
import type { AnyRow } from '../replica/row.ts';
import type { RowStore } from '../replica/row-store.ts';
import { columnModel } from '../schema/model.ts';
import type { Mutation, Operation } from '../transact/operation.ts';
import type { Uuid } from '../uuid.ts';
import type { WireRow } from '../wire/notation.ts';
import type { DesiredRows } from './desired-rows.ts';
import { type ClaimedRows, garbageUnits } from './garbage.ts';
import { describeTarget } from './identity.ts';
import { ActualRows } from './plan/actual-rows.ts';
import { type Plan, plan } from './plan/plan.ts';
import type { Unit } from './unit.ts';
import { unitId } from './unit.ts';

export interface DifferenceInput<DB> {
  readonly desired: DesiredRows<DB>;
  readonly store: RowStore;
  readonly ownerKey: string;
  readonly claimed?: ClaimedRows;
}

/**
 * The whole desired state is looked at, and everything that is ours. Keys are those of rows of ours; else the table and
 * what it is called there. Columns are JSON, references in it keys of rows; a row that cannot be written has the reason
 * instead.
 */
export const rowDifferences = <DB>({ desired, store, ownerKey, claimed }: DifferenceInput<DB>): OwnedDifference[] => {
  const wishes = desired as unknown as DesiredRows;
  const actual = new ActualRows({ store, ownerKey });
  const units = [...wishes.units(), ...garbageUnits(wishes, actual, claimed)];
  const planned = plan({ desired: wishes, actual, units });
  const names = new Names(actual, planned);
  return [
    ...planned.operations.flatMap((operation, index) => ofOperation(operation, planned.owners[index] ?? [], names)),
    ...units.flatMap((unit) => ofHeld(unit, planned, wishes)),
  ];
};

const ofOperation = (operation: Operation, owners: readonly string[], names: Names): OwnedDifference[] => {
  switch (operation.op) {
    case 'insert': {
      const key = names.ofInsert(operation['uuid-name'] ?? '') ?? operation.table;
      return [{ key, kind: 'missing', owners, desired: names.wire(operation.row) }];
    }
    case 'update': {
      const row = names.row(operation.table, operation.where[0]?.[2]);
      const desired = names.wire(operation.row);
      const actual = row && names.columns(operation.table, row, Object.keys(operation.row));
      return [
        { key: names.ofRow(operation.table, row), kind: 'different', owners, desired, ...(actual && { actual }) },
      ];
    }
    case 'mutate': {
      const row = names.row(operation.table, operation.where[0]?.[2]);
      const [desired, actual] = (['insert', 'delete'] as const).map((mutator) =>
        names.mutations(operation.mutations.filter(([, verb]) => verb === mutator)),
      );
      const key = names.ofRow(operation.table, row);
      return [{ key, kind: 'different', owners, ...(desired && { desired }), ...(actual && { actual }) }];
    }
    case 'delete': {
      const row = names.row(operation.table, operation.where[0]?.[2]);
      const actual = row && names.columns(operation.table, row, Object.keys(row));
      return [{ key: names.ofRow(operation.table, row), kind: 'unwanted', owners: [], ...(actual && { actual }) }];
    }
    default:
      return [];
  }
};

/** What cannot be written now: nothing is planned for it. */
const ofHeld = (unit: Unit, { outcomes }: Plan, desired: DesiredRows): OwnedDifference[] => {
  const outcome = outcomes.get(unitId(unit));
  if (outcome?.kind !== 'held') return [];
  const owners = desired.ownersOf(unit);
  const key = unit.kind === 'row' ? unit.key : `${unit.table} ${describeTarget(unit.target)}`;
  return [{ key, kind: 'missing', owners, desired: `cannot be written: ${outcome.message}` }];
};

/** Gives rows the names that people know them by. */
class Names {
  readonly #actual: ActualRows;
  readonly #inserts = new Map<string, string>();

  constructor(actual: ActualRows, { operations, inserts }: Plan) {
    this.#actual = actual;
    for (const { index, key } of inserts) {
      const operation = operations[index];
      if (operation?.op === 'insert') this.#inserts.set(operation['uuid-name'] ?? '', key);
    }
  }

  ofInsert(name: string): string | undefined {
    return this.#inserts.get(name);
  }

  /** @param value of a condition on `_uuid` */
  row(table: string, value: unknown): AnyRow | undefined {
    return Array.isArray(value) ? this.#actual.store.get(table, String(value[1]) as Uuid) : undefined;
  }

  ofRow(table: string, row: AnyRow | undefined): string {
    if (row === undefined) return table;
    const known = this.#actual.keyOf(table, row) ?? row['name'] ?? row._uuid;
    return typeof known === 'string' && known.startsWith(`${table}/`) ? known : `${table}/${String(known)}`;
  }

  columns(table: string, row: AnyRow, columns: readonly string[]): string {
    const entries = columns
      .filter((column) => !column.startsWith('_') && !isEmpty(row[column]))
      .map((column) => [column, this.#named(table, column, row[column])]);
    return JSON.stringify(Object.fromEntries(entries.sort(byName)));
  }

  wire(row: WireRow): string {
    const entries = Object.entries(row).map(([column, value]): [string, unknown] => [column, this.#fromWire(value)]);
    return JSON.stringify(Object.fromEntries(entries.sort(byName)));
  }

  mutations(mutations: readonly Mutation[]): string | undefined {
    if (mutations.length === 0) return undefined;
    return JSON.stringify(Object.fromEntries(mutations.map(([column, , value]) => [column, this.#fromWire(value)])));
  }

  #named(table: string, column: string, value: Value): unknown {
    const refTable = columnModel(this.#actual.model, table, column)?.key.refTable;
    if (refTable === undefined) return value;
    const name = (uuid: unknown): string => this.#ofUuid(String(uuid), refTable);
    return Array.isArray(value) ? value.map(name) : name(value);
  }

  /** RFC 7047 section 5.1 */
  #fromWire(value: unknown): unknown {
    if (!Array.isArray(value)) return value;
    const [kind, content] = value as [string, unknown];
    if (kind === 'named-uuid') return this.#inserts.get(String(content)) ?? content;
    if (kind === 'uuid') return this.#ofUuid(String(content));
    if (kind === 'set') return (content as unknown[]).map((element) => this.#fromWire(element));
    return Object.fromEntries((content as [string, unknown][]).map(([key, one]) => [key, this.#fromWire(one)]));
  }

  #ofUuid(uuid: string, table?: string): string {
    const { store } = this.#actual;
    for (const name of table === undefined ? store.tableNames : [table]) {
      const row = store.hasTable(name) ? store.get(name, uuid as Uuid) : undefined;
      if (row !== undefined) return this.ofRow(name, row);
    }
    return uuid;
  }
}

const isEmpty = (value: Value): boolean =>
  value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);
