/** What is ours of a node's network stack: as `udnctl render` has it, and as ip(8) shows it. */
import { join } from 'node:path';
import { z } from 'zod';
import { TUNNEL_ROUTE_TABLE } from '../../../../agent/model/registry/routing.ts';
import { createCommandRunner } from '../../../../datapath/exec/node-runner.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

const UDNCTL = join(import.meta.dirname, '../../../../bin/udnctl');
const runner = createCommandRunner();

/** Section → sorted lines, in the words of `udnctl render`. */
export type HostStack = Readonly<Record<'links' | 'routes' | 'rules' | 'neighbours', readonly string[]>>;

type Fields = Readonly<Record<string, unknown>>;

const KINDS = {
  Node: 'nodes',
  Namespace: 'namespaces',
  Pod: 'pods',
  NetworkAttachmentDefinition: 'network-attachment-definitions',
  UserDefinedNetwork: 'udn',
  ClusterUserDefinedNetwork: 'cudn',
};
/** Of the sandbox's agents. */
const SETTINGS = [
  '--set',
  'clusterSubnets=10.128.0.0/14/23,fd00:10:128::/48/64',
  '--set',
  'serviceSubnets=10.96.0.0/16,fd00:10:96::/112',
];
/** Of routes and rules of ours: `proto 85`. */
const PROTOCOL = '85';
const MAIN_TABLE = '254';
/** The kernel's for an IPv6 route without one. */
const IPV6_METRIC = 1024;

/** What objects of the cluster ask for, on that node. */
export const renderedStack = async (sandbox: Sandbox, node: string): Promise<HostStack> => {
  const objects = await sandbox.objects();
  const lists = await Promise.all(
    Object.entries(KINDS).map(async ([kind, plural]) => ({ kind: `${kind}List`, items: await objects.list(plural) })),
  );
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: lists });
  // It asks nobody and needs no node: here it takes a moment, in a guest half a minute.
  const args = ['render', '-f', '-', '--node', node, ...SETTINGS];
  const { stdout } = await runner.run({ file: UDNCTL, args, input });
  const document = z.object({ links: list, routes: list, rules: list, neighbours: list }).parse(JSON.parse(stdout));
  return {
    links: lines(document.links.filter(({ kind }) => kind === 'vrf').map(({ name, table }) => ({ name, table }))),
    routes: lines(document.routes.filter(isOfEveryDatapath).map(({ protocol: _, ...route }) => route)),
    rules: lines(document.rules),
    neighbours: lines(document.neighbours),
  };
};

/** VRFs are tested on the kernel's datapath, and who renders without an agent does not know it. */
const isOfEveryDatapath = ({ table }: Fields): boolean => table !== TUNNEL_ROUTE_TABLE;

const list = z.array(z.record(z.string(), z.unknown()));

export const actualStack = async (sandbox: Sandbox, node: string): Promise<HostStack> => {
  const ip = async (...args: string[]): Promise<Fields[]> => {
    const { stdout } = await sandbox.node(node, ['ip', '-j', ...args]);
    // ip(8) prints nothing at all where there is nothing.
    return list.parse(JSON.parse(stdout === '' ? '[]' : stdout)).filter((entry) => Object.keys(entry).length > 0);
  };
  const [vrfs, routes4, routes6, rules4, rules6, neighbours] = await Promise.all([
    ip('-d', 'link', 'show', 'type', 'vrf'),
    ip('-4', 'route', 'show', 'table', 'all', 'proto', PROTOCOL),
    ip('-6', 'route', 'show', 'table', 'all', 'proto', PROTOCOL),
    ip('-4', 'rule', 'show'),
    ip('-6', 'rule', 'show'),
    ip('neigh', 'show', 'nud', 'permanent'),
  ]);
  return {
    links: lines(vrfs.map(vrf)),
    routes: lines([...routes4.map((entry) => route(entry, 4)), ...routes6.map((entry) => route(entry, 6))]),
    rules: lines([...rules4.flatMap((entry) => rule(entry, 4)), ...rules6.flatMap((entry) => rule(entry, 6))]),
    neighbours: lines(neighbours.map(({ dev, dst, lladdr }) => ({ link: dev, address: dst, mac: lladdr }))),
  };
};

const vrf = ({ ifname, linkinfo }: Fields): Fields => {
  const { info_data: data } = z.object({ info_data: z.object({ table: z.number() }) }).parse(linkinfo);
  return { name: ifname, table: data.table };
};

const route = (entry: Fields, family: 4 | 6): Fields => {
  const { table = MAIN_TABLE, dst, gateway, dev, prefsrc, metric, metrics, type = 'unicast' } = entry;
  const [first] = z.array(z.object({ mtu: z.number().optional() })).parse(metrics ?? []);
  return {
    table: Number(table),
    dst: dst === 'default' ? `default${family}` : withLength(String(dst), family),
    via: gateway,
    // The kernel puts IPv6 routes without a way on the loopback link.
    dev: type === 'unreachable' ? undefined : dev,
    src: prefsrc,
    mtu: first?.mtu,
    metric: family === 6 && metric === IPV6_METRIC ? undefined : metric,
    type,
  };
};

const rule = ({ priority, fwmark, dst, dstlen, table, protocol }: Fields, family: 4 | 6): Fields[] =>
  protocol === PROTOCOL
    ? [
        {
          family,
          priority,
          fwmark,
          to: dst === undefined ? undefined : withLength(ofRule(dst, dstlen), family),
          table: Number(table === 'main' ? MAIN_TABLE : table),
        },
      ]
    : [];

/** Of a prefix that is not one address ip(8) has the length apart. */
const ofRule = (dst: unknown, length: unknown): string =>
  length === undefined ? String(dst) : `${String(dst)}/${String(length)}`;

const withLength = (dst: string, family: 4 | 6): string =>
  dst.includes('/') ? dst : `${dst}/${family === 4 ? 32 : 128}`;

/** Fields by name, so that their order does not matter. */
const lines = (entries: readonly Fields[]): string[] =>
  entries
    .map((entry) =>
      Object.entries(entry)
        .filter(([, value]) => value !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(' '),
    )
    .sort();
