/** Plans single elements of set columns. Nothing here looks at the other elements of the set. */
import type { Scalar } from '../../codec/value.ts';
import type { AnyRow } from '../../replica/row.ts';
import type { Column } from '../../schema/column.ts';
import { columnModel } from '../../schema/model.ts';
import { describeTarget, elementId, parseTarget, uuidId } from '../identity.ts';
import type { DesiredElement } from '../types.ts';
import { type MemberUnit, unitId } from '../unit.ts';
import { scalarAtoms } from './columns.ts';
import type { PlanContext } from './context.ts';
import { resolveElement } from './element.ts';
import { type Held, PLANNED, SATISFIED, type UnitOutcome } from './outcome.ts';
import { isFinal } from './removal.ts';
import type { RowPlanner } from './row-planner.ts';
import { targetToken } from './tokens.ts';
import { memberInvalidity } from './validity.ts';
import { isWantedElement } from './wanted.ts';

export class MemberPlanner {
  readonly #context: PlanContext;
  readonly #rows: RowPlanner;
  readonly #planned = new Map<string, UnitOutcome>();

  constructor(context: PlanContext, rows: RowPlanner) {
    this.#context = context;
    this.#rows = rows;
  }

  plan(unit: MemberUnit): UnitOutcome {
    const id = unitId(unit);
    const known = this.#planned.get(id);
    if (known !== undefined) return known;
    const outcome = this.#plan(unit);
    this.#planned.set(id, outcome);
    return outcome;
  }

  #plan(unit: MemberUnit): UnitOutcome {
    const { actual, desired } = this.#context;
    const column = columnModel(actual.model, unit.table, unit.column);
    const member = desired.members.get(unit.target, unit.column, unit.element);
    const problem = member === undefined ? undefined : memberInvalidity(actual, member);
    if (problem !== undefined) return problem;
    if (column === undefined || !actual.store.supports(unit.table, unit.column)) return SATISFIED;
    const wanted = member?.value ?? this.#givenElement(unit);
    return wanted === undefined ? this.#remove(unit, column) : this.#add(unit, column, wanted);
  }

  /** The element as the row itself gives it in its columns. */
  #givenElement({ target, table, column, element }: MemberUnit): DesiredElement | undefined {
    const row = this.#context.desired.row(target);
    const value = row?.table === table ? row.columns[column] : undefined;
    return Array.isArray(value) ? value.find((given: DesiredElement) => elementId(given) === element) : undefined;
  }

  #add(unit: MemberUnit, column: Column, wanted: DesiredElement): UnitOutcome {
    const { actual, lookup, feasible, pending, ownersOf } = this.#context;
    const target = parseTarget(unit.target);
    const row = lookup.target(unit.table, unit.target);
    if (row === undefined) {
      if (target.kind !== 'own' || !feasible.isInsertable(target.key)) return this.#missing(unit, unit.target);
      this.#rows.insert(target.key);
    }
    const element = resolveElement(this.#context, column.key, wanted, this.#rows.insert);
    if (element === undefined) return this.#missing(unit, elementId(wanted));
    // The insert of the row has taken all of its members along.
    if (row === undefined) return PLANNED;
    if (element.scalar !== undefined && actual.store.hasElement(unit.table, row._uuid, unit.column, element.scalar)) {
      return SATISFIED;
    }
    const address = { table: unit.table, uuid: row._uuid, owners: ownersOf(unit) };
    pending.changeElements(address, unit.column, [], [element.atom]);
    return PLANNED;
  }

  #remove(unit: MemberUnit, column: Column): UnitOutcome {
    const { actual, desired, lookup, pending, ownersOf } = this.#context;
    const row = lookup.target(unit.table, unit.target);
    if (row === undefined) return SATISFIED;
    const place = { table: unit.table, column: unit.column, row };
    // What nobody wanted when the unit was made may be wanted by now, under another name.
    const present = this.#candidates(unit, column).filter(
      (element) =>
        actual.store.hasElement(unit.table, row._uuid, unit.column, element) &&
        !isWantedElement(desired, actual, place, element),
    );
    if (present.length === 0) return SATISFIED;
    if (isFinal(this.#context, place)) return this.#mustStay(unit, row);
    const address = { table: unit.table, uuid: row._uuid, owners: ownersOf(unit) };
    pending.changeElements(address, unit.column, scalarAtoms(column, present), []);
    return PLANNED;
  }

  /** What the element can look like in the replica. */
  #candidates({ element }: MemberUnit, { key }: Column): Scalar[] {
    if (key.type === 'integer' || key.type === 'real') return [Number(element)];
    if (key.type === 'boolean') return [element === 'true'];
    if (key.refTable === undefined) return [element];
    const { actual, lookup } = this.#context;
    const target = parseTarget(element);
    if (target.kind === 'own') return actual.owned(key.refTable, target.key).map(({ _uuid }) => _uuid);
    if (target.kind === 'uuid') return [target.uuid];
    const row: AnyRow | undefined = lookup.target(key.refTable, element);
    return row === undefined ? [] : [row._uuid];
  }

  #mustStay(unit: MemberUnit, row: AnyRow): Held {
    return {
      kind: 'held',
      code: 'ERR_OVSDB_UNRESOLVED',
      message: `${unit.table} ${row._uuid} would have too few ${unit.column} without ${describeTarget(unit.element)}`,
      tokens: [targetToken(uuidId(row._uuid))],
    };
  }

  #missing(unit: MemberUnit, id: string): Held {
    const { message, tokens } = this.#context.feasible.missing(id);
    return {
      kind: 'held',
      code: 'ERR_OVSDB_UNRESOLVED',
      message: `a member of ${unit.table} ${unit.column} waits: ${message}`,
      tokens: [targetToken(id), ...tokens],
    };
  }
}
