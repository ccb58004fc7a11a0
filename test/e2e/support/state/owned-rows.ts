/** Our rows of a node's databases as lines that can be compared: a row that was deleted and made again is the same. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { keyOf, type Row, readDatabase, type Tables } from './node-state.ts';

/** What ovs-vswitchd and ovn-northd write into rows of others. */
const OF_DAEMONS: readonly string[] = [
  ...['_uuid', '_version', 'nb_cfg', 'sb_cfg', 'hv_cfg', 'statistics', 'status', 'up', 'dynamic_addresses', 'tag'],
  ...['ofport', 'ifindex', 'mac_in_use', 'link_state', 'link_resets', 'admin_state', 'error', 'duplex', 'link_speed'],
  ...['mtu', 'bfd_status', 'cfm_flap_count', 'lacp_current', 'rstp_statistics', 'rstp_status', 'bond_active_slave'],
];
/** Of `external_ids` and `options`, by ovn-controller and ovn-northd. */
const KEYS_OF_DAEMONS = /^(ovn-installed|requested-tnl-key|hv_cfg|sb_cfg|nb_cfg)/;

/** Sorted: `TABLE KEY {columns}`. References are said by the key, or the name, of what they lead to. */
export const ownedRows = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<string[]> => {
  const [northbound, openvswitch] = await Promise.all([
    readDatabase(sandbox, node, 'OVN_Northbound'),
    readDatabase(sandbox, node, 'Open_vSwitch'),
  ]);
  return [...describe(northbound), ...describe(openvswitch)].sort();
};

const describe = (tables: Tables): string[] => {
  const all = [...tables.values()].flat();
  const names = new Map(all.map((row) => [String(row['_uuid']), keyOf(row) ?? String(row['name'] ?? 'another row')]));
  return [...tables].flatMap(([table, rows]) =>
    rows.flatMap((row) => (keyOf(row) === undefined ? [] : [`${table} ${keyOf(row)} ${columns(row, names)}`])),
  );
};

const columns = (row: Row, names: ReadonlyMap<string, string>): string => {
  const kept = Object.entries(row).filter(([column]) => !OF_DAEMONS.includes(column));
  const values = kept.map(([column, value]) => [column, stable(value, names)] as const);
  return JSON.stringify(Object.fromEntries(values.toSorted(([a], [b]) => (a < b ? -1 : 1))));
};

const stable = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (typeof value === 'string') return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(stable(one, names))).sort();
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !KEYS_OF_DAEMONS.test(key));
  return Object.fromEntries(entries.map(([key, one]) => [key, stable(one, names)] as const).toSorted());
};
