/** What a node has of pods: rows of its databases, links, network namespaces, the kubelet's sandboxes. */
import { z } from 'zod';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { SANDBOX_FOLDER } from '../../../../sandbox/kubelet/paths.ts';

/** A row of an OVSDB table: columns as `ovsdb-client` prints them, maps and sets as objects and arrays. */
export type Row = Readonly<Record<string, unknown>>;

export interface NodeLink {
  readonly name: string;
  readonly group: string;
  readonly alias: string | undefined;
  readonly kind: string | undefined;
  readonly mac: string;
  readonly mtu: number;
}

/** A link in a pod's network namespace. */
export interface PodLink {
  readonly name: string;
  readonly mac: string;
  /** With prefix, global ones only. */
  readonly addresses: readonly string[];
}

export interface SandboxRecord {
  readonly id: string;
  readonly uid: string;
  readonly netns: string | undefined;
  readonly phase: string;
}

export interface NodeState {
  readonly node: string;
  /** By table: of the northbound, the Open_vSwitch and the southbound database. */
  readonly northbound: Tables;
  readonly openvswitch: Tables;
  readonly bindings: readonly Row[];
  readonly links: readonly NodeLink[];
  /** By path. */
  readonly namespaces: ReadonlyMap<string, readonly PodLink[]>;
  readonly sandboxes: readonly SandboxRecord[];
}

export type Tables = ReadonlyMap<string, readonly Row[]>;

export const readNodeState = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<NodeState> => {
  const run = async (...argv: string[]): Promise<string> => (await sandbox.node(node, argv)).stdout;
  const dump = (...what: [DatabaseName, ...string[]]): Promise<Tables> => readDatabase(sandbox, node, ...what);
  const [northbound, openvswitch, southbound, links, namespaces, records] = await Promise.all([
    dump('OVN_Northbound'),
    dump('Open_vSwitch'),
    dump('OVN_Southbound', 'Port_Binding'),
    run('ip', '-j', '-d', 'link', 'show'),
    run(
      'sh',
      '-c',
      `cd /run/netns && for n in *; do [ -e "$n" ] && echo "$PWD/$n $(ip -n "$n" -j addr | tr -d '\\n')"; done; true`,
    ),
    run('sh', '-c', `for f in ${SANDBOX_FOLDER}/*.json; do [ -e "$f" ] && { cat "$f"; echo; }; done; true`),
  ]);
  return {
    node,
    northbound,
    openvswitch,
    bindings: southbound.get('Port_Binding') ?? [],
    links: z.array(linkSchema).parse(JSON.parse(links)),
    namespaces: new Map(lines(namespaces).flatMap(readNamespace)),
    sandboxes: lines(records).map((line) => recordSchema.parse(JSON.parse(line))),
  };
};

const SOCKETS = {
  OVN_Northbound: 'unix:/run/ovn/ovnnb_db.sock',
  OVN_Southbound: 'unix:/run/ovn/ovnsb_db.sock',
  Open_vSwitch: 'unix:/run/openvswitch/db.sock',
};
type DatabaseName = keyof typeof SOCKETS;

/** @param tables default: all */
export const readDatabase = async (
  sandbox: Pick<Sandbox, 'node'>,
  node: string,
  database: DatabaseName,
  ...tables: readonly string[]
): Promise<Tables> => {
  const argv = ['ovsdb-client', '-f', 'json', 'dump', SOCKETS[database], database, ...tables];
  return readTables((await sandbox.node(node, argv)).stdout);
};

export const rowsOf = (tables: Tables, table: string): readonly Row[] => tables.get(table) ?? [];

/** `external_ids` of a row. */
export const idsOf = (row: Row): Readonly<Record<string, string>> =>
  z.record(z.string(), z.string()).parse(row['external_ids'] ?? {});

/** The row has one of our marks: that of a rendered row, or that of a pod's port of OVS. */
export const isOurs = (row: Row): boolean => keyOf(row) !== undefined;

export const keyOf = (row: Row): string | undefined => idsOf(row)[OWNER_KEY] ?? idsOf(row)[POD_PORT_KEY];

/** A port of a pod, or its interface; not the host's own ports, which are rendered. */
export const isPodPort = (row: Row): boolean => idsOf(row)[POD_PORT_KEY] !== undefined;

const OWNER_KEY = 'ovn-udn/key';
const POD_PORT_KEY = 'ovn-udn/port';

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/** One JSON object per table, ovsdb-client(1). */
const readTables = (text: string): Tables =>
  new Map(
    lines(text).map((line) => {
      const { caption, headings, data } = tableSchema.parse(JSON.parse(line));
      const rows = data.map((row) => Object.fromEntries(row.map((value, i) => [headings[i] ?? '', readValue(value)])));
      return [caption.replace(/ table$/, ''), rows];
    }),
  );

const tableSchema = z.object({
  caption: z.string(),
  headings: z.array(z.string()),
  data: z.array(z.array(z.unknown())),
});

/** RFC 7047, section 5.1: `["set", […]]`, `["map", […]]`, `["uuid", "…"]`, or a plain value. */
const readValue = (value: unknown): unknown => {
  if (!Array.isArray(value)) return value;
  const [kind, content] = value as [string, unknown];
  if (kind === 'uuid') return content;
  if (kind === 'set') return (content as unknown[]).map(readValue);
  return Object.fromEntries((content as [unknown, unknown][]).map(([key, entry]) => [key, readValue(entry)]));
};

const linkSchema = z
  .object({
    ifname: z.string(),
    group: z.string().default(''),
    ifalias: z.string().optional(),
    address: z.string().default(''),
    mtu: z.number(),
    linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
  })
  .transform(
    ({ ifname, group, ifalias, address, mtu, linkinfo }): NodeLink => ({
      name: ifname,
      group,
      alias: ifalias,
      kind: linkinfo?.info_kind,
      mac: address,
      mtu,
    }),
  );

const podLinkSchema = z
  .object({
    ifname: z.string(),
    address: z.string().default(''),
    addr_info: z
      .array(z.object({ local: z.string().optional(), prefixlen: z.number().optional(), scope: z.string().optional() }))
      .default([]),
  })
  .transform(
    ({ ifname, address, addr_info }): PodLink => ({
      name: ifname,
      mac: address,
      addresses: addr_info.filter(({ scope }) => scope === 'global').map((one) => `${one.local}/${one.prefixlen}`),
    }),
  );

/** Nothing for a namespace that went away while it was looked at. */
const readNamespace = (line: string): [string, readonly PodLink[]][] => {
  const space = line.indexOf(' ');
  const links = line.slice(space + 1);
  return links === '' ? [] : [[line.slice(0, space), z.array(podLinkSchema).parse(JSON.parse(links))]];
};

const recordSchema = z
  .object({ id: z.string(), pod: z.object({ uid: z.string() }), netns: z.string().optional(), phase: z.string() })
  .transform(({ id, pod, netns, phase }): SandboxRecord => ({ id, uid: pod.uid, netns, phase }));
