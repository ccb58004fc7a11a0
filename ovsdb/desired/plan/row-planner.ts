/** Plans whole rows: inserts, changes of columns, and removal. */
import { encodeKey } from '../../codec/encode.ts';
import type { AnyRow } from '../../replica/row.ts';
import type { Column } from '../../schema/column.ts';
import { columnModel, tableModel } from '../../schema/model.ts';
import type { WireValue } from '../../wire/notation.ts';
import { isForeignRef, isRowRef } from '../identity.ts';
import type { AnyDesiredRow, DesiredElement, DesiredValue } from '../types.ts';
import { type RowUnit, unitId } from '../unit.ts';
import { isMarked } from './actual-rows.ts';
import { distinctAtoms, planMap, planScalar, planSet } from './columns.ts';
import { displaced } from './conflict.ts';
import type { PlanContext } from './context.ts';
import { type Element, resolveElement } from './element.ts';
import { PLANNED, SATISFIED, type UnitOutcome } from './outcome.ts';
import { patchesOfNewRow } from './patches-of-new-row.ts';
import type { RowAddress } from './pending.ts';
import { removalObstacle, strongParents } from './removal.ts';

export class RowPlanner {
  readonly #context: PlanContext;
  /** Key → uuid-name. */
  readonly #inserted = new Map<string, string>();
  readonly #planned = new Map<string, UnitOutcome>();
  /** Rows of unmarked tables that were found where they are wanted. */
  readonly found: { readonly table: string; readonly key: string; readonly row: AnyRow }[] = [];

  constructor(context: PlanContext) {
    this.#context = context;
  }

  /** The rows that this plan inserts. */
  get insertedKeys(): Iterable<string> {
    return this.#inserted.keys();
  }

  isInserted(key: string): boolean {
    return this.#inserted.has(key);
  }

  /** Removes what is ours, is wanted by nobody and is where a row of this plan is to be. */
  makeRoom(): void {
    const { lookup, feasible, desired } = this.#context;
    for (const { row: wanted, existing } of feasible.writable()) {
      const rows = displaced(lookup, wanted, existing);
      for (const row of rows) this.remove(wanted.table, row, desired.rowOwners(wanted.key));
    }
  }

  plan(unit: RowUnit): UnitOutcome {
    const id = unitId(unit);
    const known = this.#planned.get(id);
    if (known !== undefined) return known;
    const outcome = this.#plan(unit);
    this.#planned.set(id, outcome);
    return outcome;
  }

  /** The uuid-name of a row that can be inserted; what it refers to, and what it must not be without, is inserted before it. */
  readonly insert = (key: string): string => {
    const known = this.#inserted.get(key);
    if (known !== undefined) return known;
    const name = `row${this.#inserted.size}`;
    this.#inserted.set(key, name);
    const { desired, feasible, pending } = this.#context;
    const wanted = desired.row(key);
    if (wanted === undefined) return name;
    const owners = desired.rowOwners(key);
    const row = this.#newRow(wanted);
    this.#guard(wanted, owners);
    for (const needed of wanted.needs ?? []) if (feasible.isInsertable(needed)) this.insert(needed);
    pending.insert({ table: wanted.table, key, name, row, owners });
    return name;
  };

  /** Takes a row away: whatever holds it lets go of it, which is how rows that are not roots end; roots are deleted. */
  remove(table: string, row: AnyRow, owners: readonly string[]): void {
    const { actual, lookup, feasible, desired, pending } = this.#context;
    lookup.gone.add(row._uuid);
    if (tableModel(actual.model, table)?.isRoot) pending.delete({ table, uuid: row._uuid, owners });
    for (const parent of strongParents(actual, table, row)) {
      pending.changeElements(
        { table: parent.table, uuid: parent.row._uuid, owners },
        parent.column,
        [['uuid', row._uuid]],
        [],
      );
      // A set that must not become empty gets its new elements by the same transaction.
      const key = actual.keyOf(parent.table, parent.row);
      if (key !== undefined && desired.row(key)?.table === parent.table && feasible.has(key)) {
        this.plan({ kind: 'row', table: parent.table, key });
      }
    }
  }

  #plan(unit: RowUnit): UnitOutcome {
    const { desired, actual, lookup, feasible, ownersOf } = this.#context;
    const owners = ownersOf(unit);
    const wanted = desired.row(unit.key);
    if (wanted?.table !== unit.table) return this.#withdraw(unit, owners);
    if (actual.store.hasTable(unit.table) && !actual.store.supports(unit.table)) return SATISFIED;
    const keeps = lookup.existing(wanted);
    const extra = actual.owned(unit.table, unit.key).filter((row) => row !== keeps);
    for (const row of extra) this.remove(unit.table, row, owners);
    const obstacle = feasible.obstacle(unit.key);
    if (obstacle !== undefined) return obstacle;
    if (keeps === undefined) {
      this.insert(unit.key);
      return PLANNED;
    }
    const differs = this.#change(wanted, keeps, owners);
    return differs || extra.length > 0 ? PLANNED : SATISFIED;
  }

  /** Removes the rows of a key that is not wanted in this table. */
  #withdraw(unit: RowUnit, owners: readonly string[]): UnitOutcome {
    const { actual } = this.#context;
    const rows = actual.owned(unit.table, unit.key);
    for (const row of rows) {
      const obstacle = removalObstacle(this.#context, unit, row);
      if (obstacle !== undefined) return obstacle;
    }
    for (const row of rows) this.remove(unit.table, row, owners);
    return rows.length > 0 ? PLANNED : SATISFIED;
  }

  #change(wanted: AnyDesiredRow, row: AnyRow, owners: readonly string[]): boolean {
    const { actual } = this.#context;
    const address: RowAddress = { table: wanted.table, uuid: row._uuid, owners };
    if (!isMarked(actual.model, wanted.table)) this.found.push({ table: wanted.table, key: wanted.key, row });
    let differs = false;
    for (const [name, value] of Object.entries(wanted.columns)) {
      const column = columnModel(actual.model, wanted.table, name);
      if (column === undefined || !actual.store.supports(wanted.table, name)) continue;
      if (this.#changeColumn(wanted, { row, column }, address, name, value)) differs = true;
    }
    return differs;
  }

  #changeColumn(
    wanted: AnyDesiredRow,
    at: { row: AnyRow; column: Column },
    address: RowAddress,
    name: string,
    value: DesiredValue,
  ): boolean {
    const { pending } = this.#context;
    switch (at.column.kind) {
      case 'set':
        return planSet(pending, address, name, at, this.#setElements(wanted, name, at.column, value));
      case 'map':
        return planMap(pending, address, name, at, this.#mapElements(wanted, name, at.column, value));
      default:
        return planScalar(pending, address, name, at.row[name], this.#oneElement(at.column, value));
    }
  }

  #newRow(wanted: AnyDesiredRow): Record<string, WireValue> {
    const { actual, desired } = this.#context;
    const row: Record<string, WireValue> = {};
    const patches = patchesOfNewRow(this.#context, wanted);
    const columns = new Set([
      ...Object.keys(wanted.columns),
      ...desired.members.columns(wanted.key),
      ...patches.keys(),
    ]);
    if (isMarked(actual.model, wanted.table)) columns.add('external_ids');
    for (const name of columns) {
      const column = columnModel(actual.model, wanted.table, name);
      if (column === undefined || !actual.store.supports(wanted.table, name)) continue;
      const given = wanted.columns[name];
      const added = patches.get(name);
      const value = this.#newValue(
        wanted,
        name,
        column,
        added === undefined ? given : { ...added, ...entriesOf(given) },
      );
      if (value !== undefined) row[name] = value;
    }
    return row;
  }

  /** Undefined when the server gives the column the same value by itself. */
  #newValue(wanted: AnyDesiredRow, name: string, column: Column, value: DesiredValue): WireValue | undefined {
    switch (column.kind) {
      case 'set': {
        const elements = this.#setElements(wanted, name, column, value);
        return elements.length === 0 ? undefined : ['set', distinctAtoms(elements)];
      }
      case 'map': {
        const entries = [...this.#mapElements(wanted, name, column, value)];
        if (entries.length === 0) return undefined;
        return ['map', entries.map(([key, { atom }]) => [encodeKey(column.key, key), atom])];
      }
      default:
        return this.#oneElement(column, value)?.atom;
    }
  }

  /** The given elements and the members; a member that cannot be resolved now comes later. */
  #setElements(wanted: AnyDesiredRow, name: string, column: Column, value: DesiredValue): Element[] {
    const given: readonly DesiredElement[] = Array.isArray(value) ? value : [];
    const members = [...this.#context.desired.members.of(wanted.key, name)].map((member) => member.value);
    return [...given, ...members].flatMap(
      (element) => resolveElement(this.#context, column.key, element, this.insert) ?? [],
    );
  }

  /** The given entries, and our mark. */
  #mapElements({ table, key }: AnyDesiredRow, name: string, column: Column, value: DesiredValue): Map<string, Element> {
    const { actual } = this.#context;
    const result = new Map<string, Element>();
    const base = column.value ?? column.key;
    for (const [entry, element] of isEntries(value) ? Object.entries(value) : []) {
      const resolved = element === undefined ? undefined : resolveElement(this.#context, base, element, this.insert);
      if (resolved !== undefined) result.set(entry, resolved);
    }
    if (name === 'external_ids' && isMarked(actual.model, table))
      result.set(actual.ownerKey, { atom: key, scalar: key });
    return result;
  }

  #oneElement(column: Column, value: DesiredValue): Element | undefined {
    if (value === undefined || isEntries(value) || isList(value)) return undefined;
    return resolveElement(this.#context, column.key, value, this.insert);
  }

  /** Lets the transaction fail when a row of this key has been inserted without our knowing. */
  #guard({ table, key }: AnyDesiredRow, owners: readonly string[]): void {
    const { actual, pending, guarded } = this.#context;
    // A row of the key that can be seen tells what became of the insert; the transaction may be about to replace it.
    if (!guarded.has(key) || !isMarked(actual.model, table) || actual.owned(table, key).length > 0) return;
    const mark: WireValue = ['map', [[actual.ownerKey, key]]];
    const where = [['external_ids', 'includes', mark]] as const;
    pending.wait({ op: 'wait', timeout: 0, table, where, columns: ['external_ids'], until: '==', rows: [] }, owners);
  }
}

const isList = (value: DesiredValue): value is readonly DesiredElement[] => Array.isArray(value);

const entriesOf = (value: DesiredValue): Readonly<Record<string, DesiredElement | undefined>> =>
  isEntries(value) ? value : {};

const isEntries = (value: DesiredValue): value is Readonly<Record<string, DesiredElement | undefined>> =>
  typeof value === 'object' && !isList(value) && !isRowRef(value) && !isForeignRef(value);
