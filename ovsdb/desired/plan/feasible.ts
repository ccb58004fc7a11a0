/**
 * Decides which rows can be inserted, before anything is planned. A row needs the rows it refers to; a row of another
 * than a root table also needs a row that refers to it. As rows may need each other, all are taken to be possible until
 * something speaks against it, and what needs them falls with them.
 */
import type { AnyRow } from '../../replica/row.ts';
import { columnModel, tableModel } from '../../schema/model.ts';
import type { Referrer } from '../desired-rows.ts';
import { describeTarget, foreignId, isRowRef, parseTarget, type TargetId, targetId } from '../identity.ts';
import { referencesIn, referredKeys } from '../store/references.ts';
import type { AnyDesiredRow, ForeignRef, RowRef } from '../types.ts';
import type { RowUnit, Unit } from '../unit.ts';
import { conflictOf, plannedConflictOf } from './conflict.ts';
import type { PlanInput } from './input.ts';
import type { Lookup } from './lookup.ts';
import type { Held } from './outcome.ts';
import { isStrongReferrer, strongParents } from './removal.ts';
import { ownerToken, targetToken } from './tokens.ts';
import { invalidity } from './validity.ts';

/** A row that is wanted, and perhaps there. */
interface Node {
  readonly row: AnyDesiredRow;
  readonly existing: AnyRow | undefined;
  obstacle: Held | undefined;
}

export class Feasibility {
  readonly #lookup: Lookup;
  readonly #isBlocked: (owner: string) => boolean;
  readonly #nodes = new Map<string, Node>();

  constructor(lookup: Lookup, { units, isBlocked = () => false }: Pick<PlanInput, 'units' | 'isBlocked'>) {
    this.#lookup = lookup;
    this.#isBlocked = isBlocked;
    for (const unit of units) this.#collectUnit(unit);
    this.#eliminate();
    this.#sharePlaces();
    this.#eliminate();
  }

  /** True for a row that is not there and can be inserted. */
  isInsertable(key: string): boolean {
    const node = this.#nodes.get(key);
    return node !== undefined && node.existing === undefined && node.obstacle === undefined;
  }

  /** The rows that nothing keeps from being written. */
  *writable(): Iterable<Node> {
    for (const node of this.#nodes.values()) if (node.obstacle === undefined) yield node;
  }

  /** True for rows that are, or may have to be, written. */
  has(key: string): boolean {
    return this.#nodes.has(key);
  }

  /** Why a row cannot be referred to, and what has to change before it can. */
  missing(id: TargetId): Pick<Held, 'message' | 'tokens'> {
    const obstacle = this.obstacle(id);
    return obstacle ?? { message: `${describeTarget(id)} does not exist`, tokens: [targetToken(id)] };
  }

  /** What keeps a wanted row from being written; undefined when nothing does. */
  obstacle(key: string): Held | undefined {
    return this.#nodes.get(key)?.obstacle;
  }

  #collectUnit(unit: Unit): void {
    if (unit.kind === 'row') this.#collectRow(unit);
    if (unit.kind !== 'member') return;
    const member = this.#lookup.desired.members.get(unit.target, unit.column, unit.element);
    if (member === undefined) return;
    const target = parseTarget(unit.target);
    if (target.kind === 'own') this.#collectAbsent(target.key);
    if (isRowRef(member.value)) this.#collectAbsent(member.value.ref);
  }

  #collectRow({ table, key }: RowUnit): void {
    const { desired, actual } = this.#lookup;
    if (desired.row(key)?.table === table) this.#collect(key);
    else {
      for (const row of actual.owned(table, key)) {
        for (const parent of strongParents(actual, table, row))
          this.#collect(actual.keyOf(parent.table, parent.row) ?? '');
      }
    }
  }

  #collectAbsent(key: string): void {
    const row = this.#lookup.desired.row(key);
    if (row !== undefined && this.#lookup.existing(row) === undefined) this.#collect(key);
  }

  /** Takes a row and everything it needs into consideration. */
  #collect(first: string): void {
    const queue = [first];
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      const row = this.#lookup.desired.row(key);
      if (row === undefined || this.#nodes.has(key)) continue;
      const existing = this.#lookup.existing(row);
      this.#nodes.set(key, { row, existing, obstacle: this.#ownObstacle(row, existing) });
      for (const needed of referredKeys(row)) if (this.#isAbsent(needed)) queue.push(needed);
      queue.push(...(row.needs ?? []).filter((needed) => this.#isAbsent(needed)));
      if (existing === undefined && !this.#isRoot(row.table)) queue.push(...this.#supporterKeys(key));
    }
  }

  /** The rows of ours that can keep a row alive and would have to be written for it. */
  #supporterKeys(key: string): string[] {
    return [...this.#lookup.desired.referrers(key)]
      .filter((referrer) => isStrongReferrer(this.#lookup, referrer, key))
      .flatMap((referrer) => {
        if ('columns' in referrer) return [referrer.key];
        return typeof referrer.row === 'string' && this.#isAbsent(referrer.row) ? [referrer.row] : [];
      });
  }

  #eliminate(): void {
    for (let found = true; found; ) {
      found = false;
      for (const [key, node] of this.#nodes) {
        if (node.obstacle !== undefined) continue;
        node.obstacle = this.#unresolved(node.row) ?? this.#needy(node.row) ?? this.#lonely(key, node);
        found ||= node.obstacle !== undefined;
      }
    }
  }

  /** Of several rows that want the same place in a unique index, the one whose key sorts first gets it. */
  #sharePlaces(): void {
    const places = new Map<string, string>();
    const possible = [...this.#nodes].filter(([, { obstacle }]) => obstacle === undefined);
    for (const [, node] of possible.sort(([a], [b]) => (a < b ? -1 : 1))) {
      node.obstacle = plannedConflictOf(this.#lookup, node.row, node.existing, places);
    }
  }

  /** What does not depend on what becomes of other rows. */
  #ownObstacle(row: AnyDesiredRow, existing: AnyRow | undefined): Held | undefined {
    return invalidity(this.#lookup.actual, row) ?? this.#blocked(row) ?? conflictOf(this.#lookup, row, existing);
  }

  #blocked({ key }: AnyDesiredRow): Held | undefined {
    // They all want the same row: one that may be tried is enough.
    const owners = this.#lookup.desired.rowOwners(key);
    const [first] = owners;
    if (first === undefined || !owners.every(this.#isBlocked)) return undefined;
    return held(`"${key}" could not be written for ${first}`, [targetToken(key), ...owners.map(ownerToken)]);
  }

  #unresolved({ key, table, columns }: AnyDesiredRow): Held | undefined {
    for (const [name, value] of Object.entries(columns)) {
      if (!this.#lookup.actual.store.supports(table, name)) continue;
      for (const reference of referencesIn(value)) {
        if (this.isResolvable(table, name, reference)) continue;
        const id = isRowRef(reference) ? reference.ref : foreignId(reference);
        return held(`"${key}" refers in ${name} to ${describeTarget(id)}, which does not exist`, [targetToken(id)]);
      }
    }
    return undefined;
  }

  /** True when a reference in this column has a row to refer to, now or in this plan. */
  isResolvable(table: string, column: string, reference: RowRef | ForeignRef): boolean {
    if (!isRowRef(reference)) return this.#lookup.foreign(reference) !== undefined;
    const { key: base, value } = columnModel(this.#lookup.actual.model, table, column) ?? {};
    const refTable = base?.refTable ?? value?.refTable;
    if (refTable === undefined) return false;
    if (this.#lookup.owned(refTable, reference.ref) !== undefined) return true;
    return this.#lookup.desired.row(reference.ref)?.table === refTable && this.isInsertable(reference.ref);
  }

  /** A row that would be what it is to be without what it must not be without. */
  #needy({ key, needs }: AnyDesiredRow): Held | undefined {
    const missing = needs?.find((needed) => !this.#isThere(needed) && !this.isInsertable(needed));
    return missing === undefined
      ? undefined
      : held(`"${key}" must not be without ${describeTarget(missing)}, which does not exist`, [targetToken(missing)]);
  }

  #isThere(key: string): boolean {
    const row = this.#lookup.desired.row(key);
    return row !== undefined && this.#lookup.existing(row) !== undefined;
  }

  /** A row that is to be inserted, and that nothing would keep alive. */
  #lonely(key: string, { row, existing }: Node): Held | undefined {
    if (existing !== undefined || this.#isRoot(row.table)) return undefined;
    const supporters = [...this.#lookup.desired.referrers(key)].filter((referrer) =>
      isStrongReferrer(this.#lookup, referrer, key),
    );
    if (supporters.some((referrer) => this.#isSupport(referrer))) return undefined;
    const targets = supporters.map((referrer) => ('columns' in referrer ? referrer.key : targetId(referrer.row)));
    const what =
      targets.length === 0
        ? 'nothing refers to it'
        : `${describeTarget(targets[0] ?? '')}, which refers to it, does not exist`;
    return held(`"${key}" cannot be written: ${what}`, targets.map(targetToken));
  }

  #isSupport(referrer: Referrer): boolean {
    if ('columns' in referrer) {
      const node = this.#nodes.get(referrer.key);
      return node !== undefined && node.obstacle === undefined;
    }
    if (this.#lookup.target(referrer.table, targetId(referrer.row)) !== undefined) return true;
    return typeof referrer.row === 'string' && this.isInsertable(referrer.row);
  }

  #isAbsent(key: string): boolean {
    const row = this.#lookup.desired.row(key);
    return row !== undefined && this.#lookup.existing(row) === undefined;
  }

  #isRoot(table: string): boolean {
    return tableModel(this.#lookup.actual.model, table)?.isRoot ?? true;
  }
}

const held = (message: string, tokens: readonly string[]): Held => ({
  kind: 'held',
  code: 'ERR_OVSDB_UNRESOLVED',
  message,
  tokens,
});
