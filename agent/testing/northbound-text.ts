/**
 * Northbound rows as text that a person can read: routers and switches in the order of their names, each with what is in
 * it. Our own entry of `external_ids` is left out.
 */

import { OWNER_KEY } from '../model/ownership.ts';
import type { DocumentRow, DocumentTables, DocumentValue } from '../render/document.ts';

/** @param isShown of routers, switches and MAC bindings, by their name or port */
export const northboundText = (tables: DocumentTables, isShown: (name: string) => boolean): string => {
  const rows = new RowsByKey(tables);
  const shown = (table: string, column: string): readonly DocumentRow[] =>
    (tables[table] ?? []).filter((row) => isShown(text(row[column])));
  return [
    ...shown('Logical_Router', 'name').map((row) => routerText(row, rows)),
    ...shown('Logical_Switch', 'name').map((row) => switchText(row, rows)),
    shown('Static_MAC_Binding', 'logical_port').map(bindingText).join('\n'),
  ]
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n');
};

class RowsByKey {
  readonly #rows: ReadonlyMap<string, DocumentRow>;

  constructor(tables: DocumentTables) {
    const rows = Object.values(tables).flat();
    this.#rows = new Map(rows.map((row) => [text((row['external_ids'] as DocumentRow)?.[OWNER_KEY]), row]));
  }

  /** The rows that a column refers to; one that is missing is shown as its key. */
  of(row: DocumentRow, column: string): DocumentRow[] {
    return list(row[column]).map((key) => this.#rows.get(text(key)) ?? { name: `missing: ${text(key)}` });
  }
}

const routerText = (row: DocumentRow, rows: RowsByKey): string =>
  [
    `Logical_Router ${text(row['name'])}`,
    ...columnLines(row, ['name', 'ports', 'static_routes', 'policies', 'nat']),
    ...rows.of(row, 'ports').flatMap((port) => portLines(port, rows)),
    ...rows.of(row, 'static_routes').map((route) => indent(routeText(route))),
    ...rows.of(row, 'policies').map((policy) => indent(policyText(policy))),
    ...rows.of(row, 'nat').map((nat) => indent(natText(nat))),
  ].join('\n');

const switchText = (row: DocumentRow, rows: RowsByKey): string =>
  [
    `Logical_Switch ${text(row['name'])}`,
    ...columnLines(row, ['name', 'ports', 'acls', 'qos_rules']),
    ...rows.of(row, 'ports').flatMap((port) => portLines(port, rows)),
    ...rows.of(row, 'acls').map((acl) => indent(aclText(acl))),
    ...rows.of(row, 'qos_rules').map((qos) => indent(qosText(qos))),
  ].join('\n');

const portLines = (port: DocumentRow, rows: RowsByKey): string[] => [
  indent(`port ${text(port['name'])}`),
  ...columnLines(port, ['name', 'gateway_chassis']).map(indent),
  ...rows
    .of(port, 'gateway_chassis')
    .map((chassis) => indent(indent(`gateway chassis ${text(chassis['chassis_name'])}, ${text(chassis['priority'])}`))),
];

const routeText = (row: DocumentRow): string =>
  [
    `route ${text(row['ip_prefix'])} → ${text(row['nexthop'])}`,
    ...(row['output_port'] === undefined ? [] : [`out of ${text(row['output_port'])}`]),
    ...(row['policy'] === undefined ? [] : [text(row['policy'])]),
    ...idsSuffix(row),
  ].join(', ');

const policyText = (row: DocumentRow): string =>
  [
    `policy ${text(row['priority'])} ${text(row['match'])}: ${text(row['action'])} → ${list(row['nexthops']).join(' ')}`,
    ...idsSuffix(row),
  ].join(', ');

const natText = (row: DocumentRow): string =>
  [
    `${text(row['type'])} ${text(row['logical_ip'])} → ${text(row['external_ip'])}`,
    ...(row['logical_port'] === undefined ? [] : [`at ${text(row['logical_port'])}`]),
    ...(text(row['match']) === '' ? [] : [`if ${text(row['match'])}`]),
    ...pairs(row['options']),
    ...idsSuffix(row),
  ].join(', ');

const aclText = (row: DocumentRow): string => {
  const [direction, priority, match, action] = ['direction', 'priority', 'match', 'action'].map((one) =>
    text(row[one]),
  );
  return `acl ${direction} tier ${text(row['tier'])} priority ${priority} (${match}): ${action}`;
};

const qosText = (row: DocumentRow): string =>
  `qos ${text(row['direction'])} priority ${text(row['priority'])} (${text(row['match'])}): ${pairs(row['bandwidth']).join(' ')}`;

const bindingText = (row: DocumentRow): string =>
  `Static_MAC_Binding ${text(row['logical_port'])} ${text(row['ip'])} = ${text(row['mac'])}, override_dynamic_mac=${text(row['override_dynamic_mac'])}`;

const idsSuffix = (row: DocumentRow): string[] => {
  const ids = pairs(row['external_ids']);
  return ids.length === 0 ? [] : [`[${ids.join(' ')}]`];
};

const columnLines = (row: DocumentRow, hidden: readonly string[]): string[] =>
  Object.entries(row)
    .filter(([column]) => !hidden.includes(column))
    .map(([column, value]) => ({ column, shown: valueText(value) }))
    .filter(({ shown }) => shown !== '')
    .map(({ column, shown }) => indent(`${column}: ${shown}`));

const valueText = (value: DocumentValue): string => {
  if (typeof value !== 'object') return String(value);
  return (Array.isArray(value) ? value.map(String) : pairs(value)).join('  ');
};

const pairs = (map: DocumentValue | undefined): string[] =>
  typeof map !== 'object' || Array.isArray(map)
    ? []
    : Object.entries(map).flatMap(([key, value]) => (key === OWNER_KEY ? [] : [`${key}=${text(value)}`]));

const list = (value: DocumentValue | undefined): readonly DocumentValue[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

const text = (value: DocumentValue | undefined): string => (value === undefined ? '' : String(value));

const indent = (line: string): string => `  ${line}`;
