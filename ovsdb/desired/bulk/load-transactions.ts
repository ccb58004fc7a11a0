/**
 * Everything that can be inserted into an empty database, as transactions that need no reply to one another: rows have uuids
 * chosen here (ovsdb-server(7), section 5.2.1 "Insert"), so a later transaction can refer to a row of an earlier one.
 *
 * - What one owner wants is not split, as everywhere, and what refers to a row comes with it or after it.
 * - A row of another than a root table comes with what keeps it alive: as a reference of a row, or as an element of a set.
 * - What needs a look at anything else is left out, and found by the comparison that follows.
 */
import { setText, uuidText } from '../../codec/text.ts';
import { columnModel } from '../../schema/model.ts';
import type { Uuid } from '../../uuid.ts';
import type { WireRow } from '../../wire/notation.ts';
import type { DesiredRows } from '../desired-rows.ts';
import { isRowRef } from '../identity.ts';
import type { ActualRows } from '../plan/actual-rows.ts';
import type { AnyFragment, AnyMember } from '../types.ts';
import { waitsForEmpty } from './emptiness.ts';
import { attempt, type NewRow, NewRows } from './new-row.ts';

export interface LoadTransaction {
  /** Its operations, as in a list of JSON without the brackets. */
  readonly text: string;
  readonly operations: number;
  readonly owners: number;
  readonly rows: readonly LoadedRow[];
}

export interface LoadedRow {
  readonly table: string;
  readonly key: string;
  readonly uuid: Uuid;
  /** Of a row that carries no mark: what it can be known again by. */
  readonly recognisedBy?: WireRow;
}

export interface LoadInput {
  readonly desired: DesiredRows;
  readonly actual: ActualRows;
  /** The tables that are empty; the first transaction makes sure of that. */
  readonly tables: Iterable<string>;
  readonly maxOperations: number;
}

/** Undefined: the next one is not complete, and something else may be done. */
export function* loadTransactions({
  desired,
  actual,
  tables,
  maxOperations,
}: LoadInput): Generator<LoadTransaction | undefined> {
  const batch = new Batch(desired, actual);
  for (const wait of waitsForEmpty(tables)) batch.begin(JSON.stringify(wait));
  let owners = 0;
  // What is withdrawn or comes meanwhile is found by the comparison.
  for (const owner of [...desired.owners()]) {
    const fragment = desired.fragment(owner);
    // Of an owner that does not get its way with a row, members may be withheld.
    if (fragment !== undefined && desired.shadowedKeys(owner).size === 0) batch.add(fragment);
    owners += 1;
    if (batch.size >= maxOperations) yield batch.take();
    else if (owners % OWNERS_AT_ONCE === 0) yield undefined;
  }
  batch.addLate();
  if (batch.hasRows) yield batch.take();
}

/** About a millisecond's worth. */
const OWNERS_AT_ONCE = 64;

/** So many count as one operation. */
const BARE_ELEMENTS = 16;

/** Columns of rows of earlier transactions, and what is to be added to them. */
type Additions = Map<string, Set<string>>;

class Batch {
  readonly #desired: DesiredRows;
  readonly #actual: ActualRows;
  readonly #rows: NewRows;
  /** Row → whether its insert is among those that have been taken. */
  readonly #placed = new Map<NewRow, 'now' | 'earlier'>();
  #inserts: NewRow[] = [];
  #additions = new Map<NewRow, Additions>();
  #first: string[] = [];
  #owners = 0;
  /** Elements of bare owners. */
  #bare = 0;
  /** Members that keep nothing alive, of rows that were not there yet. */
  readonly #late: AnyMember[] = [];

  constructor(desired: DesiredRows, actual: ActualRows) {
    this.#desired = desired;
    this.#actual = actual;
    this.#rows = new NewRows(desired, actual);
  }

  get size(): number {
    return this.#inserts.length + this.#additions.size + Math.floor(this.#bare / BARE_ELEMENTS);
  }

  get hasRows(): boolean {
    return this.#inserts.length + this.#additions.size > 0;
  }

  begin(operation: string): void {
    this.#first.push(operation);
  }

  add({ rows = [], members = [] }: AnyFragment): void {
    const before = this.size;
    for (const row of rows) {
      if (this.#desired.row(row.key) !== row) continue;
      const inserted = this.#rows.get(row.table, row.key);
      if (inserted?.isRoot) this.#place(inserted);
    }
    for (const member of members) {
      const target = typeof member.row === 'string' ? this.#rows.get(member.table, member.row) : undefined;
      if (target === undefined || !target.isRoot) continue;
      this.#place(target);
      this.#addMember(target, member);
    }
    if (this.size > before) this.#owners++;
  }

  addLate(): void {
    for (const member of this.#late.splice(0)) {
      const target = this.#rows.get(member.table, member.row as string);
      if (target !== undefined) this.#addMember(target, member);
    }
  }

  take(): LoadTransaction {
    const operations = [
      ...this.#first,
      ...this.#inserts.map(insertText),
      ...Array.from(this.#additions, ([row, additions]) => additionsText(row, additions)),
    ];
    const rows = this.#inserts.map(({ table, key, uuid, recognisedBy }) => ({
      ...{ table, key, uuid },
      ...(recognisedBy && { recognisedBy }),
    }));
    for (const row of this.#inserts) {
      this.#placed.set(row, 'earlier');
      // Nobody needs the text any more.
      row.columns.length = 0;
      row.sets.clear();
    }
    const owners = this.#owners;
    this.#inserts = [];
    this.#additions = new Map();
    this.#first = [];
    this.#owners = 0;
    this.#bare = 0;
    return { text: operations.join(), operations: operations.length, owners, rows };
  }

  /** Puts a row, and everything that it refers to, into the transaction. */
  #place(row: NewRow): void {
    if (row.isLeft || this.#placed.has(row)) return;
    this.#placed.set(row, 'now');
    this.#inserts.push(row);
    for (const referred of row.references) this.#place(referred);
    row.references.length = 0;
    const { members } = this.#desired;
    for (const column of members.columns(row.key)) {
      // A row that is no root is nobody's place to wait for: what belongs into its sets comes with it. Bare owners have no turn of their own.
      if (!row.isRoot) for (const member of members.of(row.key, column)) this.#addMember(row, member);
      else for (const member of members.bareOf(row.key, column)) this.#addBare(row, member);
    }
  }

  #addBare(target: NewRow, member: AnyMember): void {
    this.#bare += 1;
    this.#addMember(target, member);
  }

  /** @param target has been placed */
  #addMember(target: NewRow, member: AnyMember): void {
    const { table, column: name, value } = member;
    const column = columnModel(this.#actual.model, table, name);
    if (column?.kind !== 'set' || !this.#actual.store.supports(table, name)) return;
    attempt(() => {
      const { text, row } = this.#rows.element(column.key, value);
      if (row === undefined || row.isRoot || !column.key.weak || this.#placed.has(row)) {
        if (row !== undefined) this.#place(row);
        this.#addElement(target, name, text);
      } else if (isRowRef(value)) this.#late.push(member);
    });
  }

  #addElement(target: NewRow, name: string, text: string): void {
    if (this.#placed.get(target) === 'now') {
      const elements = target.sets.get(name);
      if (elements === undefined) target.sets.set(name, [text]);
      else elements.push(text);
      return;
    }
    const additions: Additions = this.#additions.get(target) ?? new Map();
    this.#additions.set(target, additions);
    const elements = additions.get(name);
    if (elements === undefined) additions.set(name, new Set([text]));
    else elements.add(text);
  }
}

const insertText = ({ table, uuid, columns, sets }: NewRow): string => {
  const all = [...columns];
  for (const [name, elements] of sets) if (elements.length > 0) all.push(`"${name}":${setText(elements)}`);
  return `{"op":"insert","table":"${table}","uuid":"${uuid}","row":{${all.join()}}}`;
};

/** Of a row that was not inserted after all nothing is changed, and nothing fails. */
const additionsText = ({ table, uuid }: NewRow, additions: Additions): string => {
  const mutations = Array.from(additions, ([name, elements]) => `["${name}","insert",${setText([...elements])}]`);
  return `{"op":"mutate","table":"${table}","where":[["_uuid","==",${uuidText(uuid)}]],"mutations":[${mutations.join()}]}`;
};
