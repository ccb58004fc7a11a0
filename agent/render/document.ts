/**
 * What a node would be programmed with, as one plain document: the same input gives the same text. References are the
 * keys of rows (`Logical_Switch/red.red_n1`), maps are objects, sets are sorted arrays.
 */
import { hostItemKey } from '../../datapath/host/types.ts';
import { formatTable } from '../../datapath/nftables/format.ts';
import { nftItemKey } from '../../datapath/nftables/types.ts';
import { bridgeItemKey } from '../../datapath/openflow/types.ts';
import { DesiredRows } from '../../ovsdb/desired/desired-rows.ts';
import type { AnyMember, AnyPatch, DesiredElement, DesiredValue } from '../../ovsdb/desired/types.ts';
import { compareOwners, objectOfOwner } from '../features/owner-order.ts';
import type { Diagnostic } from '../model/fragment.ts';
import { OWNER_KEY } from '../model/ownership.ts';
import { type HostDocument, hostDocument } from './host-document.ts';
import type { MemorySink, MemorySinks } from './memory-sinks.ts';
import { type BridgeLines, groupsDocument, noFloodDocument, openflowDocument } from './openflow-document.ts';

export type DocumentValue =
  | string
  | number
  | boolean
  | readonly DocumentValue[]
  | { readonly [key: string]: DocumentValue };
export type DocumentRow = Readonly<Record<string, DocumentValue>>;
/** Table → rows, both sorted. */
export type DocumentTables = Readonly<Record<string, readonly DocumentRow[]>>;

export interface RenderDocument extends HostDocument {
  readonly northbound: DocumentTables;
  readonly southbound: DocumentTables;
  readonly openvswitch: DocumentTables;
  /** Flows of each bridge. */
  readonly openflow: BridgeLines;
  /** Groups that flows of the bridge refer to. */
  readonly openflowGroups: BridgeLines;
  /** Ports of the bridge that broadcasts do not reach. */
  readonly noFlood: BridgeLines;
  /** Our table. */
  readonly nftables: string;
  readonly diagnostics: readonly Diagnostic[];
}

export const renderDocument = (
  sinks: MemorySinks,
  diagnostics: ReadonlyMap<string, readonly Diagnostic[]>,
): RenderDocument => {
  const flows = firstOfEach(sinks.openflow.all(), bridgeItemKey);
  const northbound = together(sinks.northbound);
  const southbound = together(sinks.southbound);
  const openvswitch = together(sinks.openvswitch);
  const lost = [northbound, southbound, openvswitch].flatMap(shadows);
  return {
    northbound: tablesOf(northbound),
    southbound: tablesOf(southbound),
    openvswitch: tablesOf(openvswitch),
    openflow: openflowDocument(flows),
    openflowGroups: groupsDocument(flows),
    noFlood: noFloodDocument(flows),
    ...hostDocument(firstOfEach(sinks.host.all(), hostItemKey)),
    nftables: formatTable(firstOfEach(sinks.nftables.all(), nftItemKey)),
    diagnostics: sortBy([...diagnostics.values(), lost].flat(), ({ object, message }) => `${object} ${message}`),
  };
};

/** Of what several owners want, the first has its way, as in the agent (`ItemStore`). */
const firstOfEach = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] => {
  const first = new Map<string, Item>();
  for (const item of items) if (!first.has(keyOf(item))) first.set(keyOf(item), item);
  return [...first.values()];
};

interface DraftRow {
  readonly table: string;
  readonly columns: Map<string, DesiredValue>;
}

const tablesOf = (desired: DesiredRows): DocumentTables => {
  const rows = new Map<string, DraftRow>();
  for (const { table, key, columns } of desired.rows()) {
    rows.set(key, { table, columns: new Map(Object.entries(withOwner(key, table, columns))) });
  }
  const targets = [...desired.units()].flatMap((unit) => (unit.kind === 'patch' ? [unit.target] : []));
  // Of two patches of one value the first counts.
  for (const patch of targets.flatMap((target) => desired.patches(target).toReversed())) addPatch(rows, patch);
  addMembers(rows, [...desired.members.all()]);
  return byTable(rows);
};

/** The sink's fragments together, as the agent puts them together. */
const together = <DB>({ fragments }: MemorySink<DB>): DesiredRows => {
  const desired = new DesiredRows<DB>(compareOwners);
  for (const [owner, fragment] of fragments) desired.set(owner, fragment);
  return desired as unknown as DesiredRows;
};

/** Two owners desire a row, each otherwise: the loser gets a diagnostic. */
const shadows = (desired: DesiredRows): Diagnostic[] =>
  [...desired.owners()].flatMap((owner) =>
    [...desired.shadowedKeys(owner)].map((key) => ({
      object: objectOfOwner(owner),
      severity: 'error' as const,
      message: `the row ${key} belongs to ${objectOfOwner(desired.rowOwners(key)[0] ?? '')}`,
    })),
  );

/** Tables without `external_ids` carry no mark; their rows are recognised by their unique columns. */
const withOwner = (
  key: string,
  table: string,
  columns: Readonly<Record<string, DesiredValue>>,
): Readonly<Record<string, DesiredValue>> => {
  if (TABLES_WITHOUT_EXTERNAL_IDS.has(table)) return columns;
  const { external_ids: ids = {} } = columns;
  return { ...columns, external_ids: { ...(ids as Record<string, string>), [OWNER_KEY]: key } };
};

const TABLES_WITHOUT_EXTERNAL_IDS: ReadonlySet<string> = new Set([
  'Encap',
  'Load_Balancer_Group',
  'Static_MAC_Binding',
]);

const addPatch = (rows: Map<string, DraftRow>, { table, at, columns = {}, entries = {} }: AnyPatch): void => {
  const key = at === undefined ? table : `${table}/${Object.values(at).join('/')}`;
  const row = rows.get(key) ?? { table, columns: new Map(Object.entries(at ?? {})) };
  for (const [column, value] of Object.entries(columns)) row.columns.set(column, value);
  for (const [column, cells = {}] of Object.entries(entries)) {
    const present = Object.fromEntries(Object.entries(cells).filter(([, value]) => value !== null));
    row.columns.set(column, {
      ...(row.columns.get(column) as Record<string, DesiredElement> | undefined),
      ...present,
    } as DesiredValue);
  }
  rows.set(key, row);
};

/** A switch may have thousands of ports: each set is put together once. */
const addMembers = (rows: Map<string, DraftRow>, members: readonly AnyMember[]): void => {
  const columns = Map.groupBy(members, ({ row, column }) => JSON.stringify([keyOfRow(row), column]));
  for (const added of columns.values()) {
    const [{ table, row, column } = { table: '', row: '', column: '' }] = added;
    const target = rows.get(keyOfRow(row)) ?? { table, columns: new Map() };
    const set = (target.columns.get(column) ?? []) as readonly DesiredElement[];
    const elements = [...set, ...added.map(({ value }) => value)];
    target.columns.set(column, [...new Map(elements.map((element) => [textOf(element), element])).values()]);
    rows.set(keyOfRow(row), target);
  }
};

const keyOfRow = (row: AnyMember['row']): string =>
  typeof row === 'string' ? row : `${row.table}/${Object.values(row.at).join('/')}`;

const byTable = (rows: ReadonlyMap<string, DraftRow>): DocumentTables => {
  const tables: Record<string, DocumentRow[]> = {};
  for (const [, { table, columns }] of sortBy([...rows], ([key]) => key)) {
    const row = Object.fromEntries(
      sortBy([...columns], ([column]) => column).flatMap(([column, value]) =>
        value === undefined || isEmpty(value) ? [] : [[column, documentValue(value)]],
      ),
    );
    tables[table] ??= [];
    tables[table].push(row);
  }
  return Object.fromEntries(sortBy(Object.entries(tables), ([table]) => table));
};

const isEmpty = (value: DesiredValue): boolean => typeof value === 'object' && Object.keys(value).length === 0;

const documentValue = (value: DesiredValue): DocumentValue => {
  if (value === undefined) return '';
  if (Array.isArray(value)) return sortBy((value as readonly DesiredElement[]).map(elementOf), String);
  if (isElement(value)) return elementOf(value);
  const entries = Object.entries(value as Readonly<Record<string, DesiredElement | undefined>>);
  return Object.fromEntries(
    sortBy(entries, ([key]) => key).flatMap(([key, element]) =>
      element === undefined ? [] : [[key, elementOf(element)]],
    ),
  );
};

const isElement = (value: DesiredValue): value is DesiredElement =>
  typeof value !== 'object' || 'ref' in value || ('at' in value && 'table' in value);

const elementOf = (element: DesiredElement): string | number | boolean => {
  if (typeof element !== 'object') return element;
  return 'ref' in element ? element.ref : `${element.table}/${Object.values(element.at).join('/')}`;
};

const textOf = (element: DesiredElement): string => String(elementOf(element));

/** By text, without regard to the locale. */
const sortBy = <Item>(items: readonly Item[], text: (item: Item) => string): Item[] =>
  [...items].sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
