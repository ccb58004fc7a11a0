/** What the programs have written on a node, for comparing. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { type Row, readDatabase, type Tables } from './node-state.ts';

/** Columns that the daemons count in, and no configuration. */
const COUNTERS: readonly string[] = [
  ...['nb_cfg', 'nb_cfg_timestamp', 'sb_cfg', 'sb_cfg_timestamp', 'hv_cfg', 'hv_cfg_timestamp', 'cur_cfg', 'next_cfg'],
  ...['statistics', 'status', 'link_resets', 'link_state', 'bfd_status', 'cfm_flap_count'],
  'connections',
];

export interface Programmed {
  /** Rows with their `_uuid`: one that was deleted and made again is another one. Sorted. */
  readonly rows: readonly string[];
  /** Of br-int, without counters and without the neighbours that OVN learns meanwhile. Sorted. */
  readonly flows: readonly string[];
}

export const readProgrammed = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<Programmed> => {
  const [rows, flows] = await Promise.all([
    readRows(sandbox, node),
    sandbox.node(node, ['ovs-ofctl', 'dump-flows', 'br-int', '--no-stats']),
  ]);
  return { rows, flows: sortedLines(flows.stdout).filter((flow) => !isLearned(flow)) };
};

const readRows = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<string[]> => {
  const databases = (['OVN_Northbound', 'Open_vSwitch'] as const).map((name) => readDatabase(sandbox, node, name));
  return (await Promise.all(databases)).flatMap(describeTables).sort();
};

/**
 * Of a row of MAC_Binding: OFTABLE_MAC_BINDING, OFTABLE_MAC_LOOKUP and OFTABLE_MAC_CACHE_USE of ovn-controller. Static ones have
 * another priority.
 */
const isLearned = (flow: string): boolean => /\btable=(?:66|67|79),/.test(flow) && /\bpriority=100\b/.test(flow);

/** Rows and OVS ports that name something. */
export const rowsNaming = async (sandbox: Pick<Sandbox, 'node'>, node: string, text: string): Promise<string[]> =>
  (await readRows(sandbox, node)).filter((row) => row.includes(text));

/** The same without the zones that ovn-controller remembers on its bridge. */
export const ownRowsNaming = async (sandbox: Pick<Sandbox, 'node'>, node: string, text: string): Promise<string[]> => {
  const rows = await rowsNaming(sandbox, node, text);
  return rows.map((row) => row.replaceAll(/"ct-zone-[^"]*":"\d+"/g, '')).filter((row) => row.includes(text));
};

/** A line for each row, without what the daemons count. */
export const describeTables = (tables: Tables): string[] =>
  [...tables].flatMap(([table, rows]) =>
    rows.map((row) => `${table} ${withoutConfigurationCount(JSON.stringify(withoutCounters(row)))}`),
  );

/** ovn-controller notes on br-int which northbound configuration it has installed; agents raise that when they start. */
const withoutConfigurationCount = (row: string): string => row.replaceAll(/"ovn-nb-cfg(?:-ts)?":"\d+",?/g, '');

const withoutCounters = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !COUNTERS.includes(column)));

export const sortedLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .sort();
