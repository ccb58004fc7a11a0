/** Collects what is to be done to each row and makes as few operations of it as possible. */
import type { MutateOperation, Mutation, Operation } from '../../transact/operation.ts';
import type { Uuid } from '../../uuid.ts';
import type { WireAtom, WireRow, WireValue } from '../../wire/notation.ts';

export interface PendingInsert {
  readonly table: string;
  readonly key: string;
  readonly name: string;
  readonly row: Record<string, WireValue>;
  readonly owners: readonly string[];
}

interface ElementChanges {
  readonly remove: WireAtom[];
  readonly add: WireAtom[];
}

interface EntryChanges {
  readonly remove: WireAtom[];
  readonly add: (readonly [WireAtom, WireAtom])[];
}

interface RowChanges {
  readonly table: string;
  readonly uuid: Uuid;
  readonly owners: Set<string>;
  readonly update: Record<string, WireValue>;
  readonly elements: Map<string, ElementChanges>;
  readonly entries: Map<string, EntryChanges>;
}

export interface BuiltOperations {
  readonly operations: readonly Operation[];
  /** For each operation, who wants it. */
  readonly owners: readonly (readonly string[])[];
  /** The inserts, with their position among the operations. */
  readonly inserts: readonly { readonly index: number; readonly table: string; readonly key: string }[];
}

export class PendingOperations {
  readonly #inserts: PendingInsert[] = [];
  readonly #waits: { readonly operation: Operation; readonly owners: readonly string[] }[] = [];
  readonly #rows = new Map<Uuid, RowChanges>();
  readonly #deletes = new Map<Uuid, { readonly table: string; readonly owners: readonly string[] }>();

  insert(insert: PendingInsert): void {
    this.#inserts.push(insert);
  }

  wait(operation: Operation, owners: readonly string[]): void {
    this.#waits.push({ operation, owners });
  }

  set(row: RowAddress, column: string, value: WireValue): void {
    this.#changes(row).update[column] = value;
  }

  changeElements(row: RowAddress, column: string, remove: readonly WireAtom[], add: readonly WireAtom[]): void {
    const { elements } = this.#changes(row);
    const known = elements.get(column) ?? { remove: [], add: [] };
    append(known.remove, remove);
    append(known.add, add);
    elements.set(column, known);
  }

  changeEntries(
    row: RowAddress,
    column: string,
    remove: readonly WireAtom[],
    add: readonly (readonly [WireAtom, WireAtom])[],
  ): void {
    const { entries } = this.#changes(row);
    const known = entries.get(column) ?? { remove: [], add: [] };
    append(known.remove, remove);
    append(known.add, add);
    entries.set(column, known);
  }

  delete({ table, uuid, owners }: RowAddress): void {
    this.#deletes.set(uuid, { table, owners });
  }

  /**
   * Rows that refer to each other are inserted before rows are changed, and those before rows are deleted.
   * @param gone rows that are removed, in which nothing has to be changed
   */
  build(gone: ReadonlySet<Uuid>): BuiltOperations {
    const operations: Operation[] = [];
    const owners: (readonly string[])[] = [];
    const add = (operation: Operation, of: readonly string[]): number => {
      owners.push(of);
      return operations.push(operation) - 1;
    };
    for (const wait of this.#waits) add(wait.operation, wait.owners);
    const inserts = this.#inserts.map(({ table, key, name, row, owners: of }) => ({
      index: add({ op: 'insert', table, row, 'uuid-name': name }, of),
      table,
      key,
    }));
    for (const changes of this.#rows.values()) {
      if (gone.has(changes.uuid)) continue;
      for (const operation of rowOperations(changes)) add(operation, [...changes.owners]);
    }
    for (const [uuid, { table, owners: of }] of this.#deletes) add({ op: 'delete', table, where: [byUuid(uuid)] }, of);
    return { operations, owners, inserts };
  }

  #changes({ table, uuid, owners }: RowAddress): RowChanges {
    let changes = this.#rows.get(uuid);
    if (changes === undefined) {
      changes = { table, uuid, owners: new Set(), update: {}, elements: new Map(), entries: new Map() };
      this.#rows.set(uuid, changes);
    }
    for (const owner of owners) changes.owners.add(owner);
    return changes;
  }
}

/** One by one: the arguments of a call have a limit, and a set of addresses has none. */
const append = <Value>(list: Value[], more: readonly Value[]): void => {
  for (const one of more) list.push(one);
};

export interface RowAddress {
  readonly table: string;
  readonly uuid: Uuid;
  readonly owners: readonly string[];
}

const rowOperations = ({ table, uuid, update, elements, entries }: RowChanges): Operation[] => {
  const where = [byUuid(uuid)];
  const mutations = [
    ...[...elements]
      .filter(([column]) => !(column in update))
      .flatMap(([column, changes]) => elementMutations(column, changes)),
    ...[...entries].flatMap(([column, changes]) => entryMutations(column, changes)),
  ];
  const mutate: MutateOperation = { op: 'mutate', table, where, mutations };
  return [
    ...(Object.keys(update).length > 0 ? [{ op: 'update', table, where, row: update satisfies WireRow } as const] : []),
    ...(mutations.length > 0 ? [mutate] : []),
  ];
};

/** What is removed makes room for what is added: sets can be full. */
const elementMutations = (column: string, { remove, add }: ElementChanges): Mutation[] => [
  ...(remove.length > 0 ? [[column, 'delete', ['set', unique(remove)]] as const] : []),
  ...(add.length > 0 ? [[column, 'insert', ['set', unique(add)]] as const] : []),
];

/** Inserting does not overwrite (RFC 7047 §5.1 `<mutation>`): an entry that changes is removed first. */
const entryMutations = (column: string, { remove, add }: EntryChanges): Mutation[] => [
  ...(remove.length > 0 ? [[column, 'delete', ['set', unique(remove)]] as const] : []),
  ...(add.length > 0 ? [[column, 'insert', ['map', add]] as const] : []),
];

/** A set on the wire must not have an element twice. */
const unique = (atoms: readonly WireAtom[]): WireAtom[] => [
  ...new Map(atoms.map((atom) => [Array.isArray(atom) ? atom.join() : atom, atom])).values(),
];

const byUuid = (uuid: Uuid) => ['_uuid', '==', ['uuid', uuid]] as const;
