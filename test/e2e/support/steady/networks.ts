/** Networks that come and go beside those that packets flow through, and how to see that nothing else is touched. */

import { expect } from 'vitest';
import { networkCtMark, networkPacketMark } from '../../../../agent/model/registry/marks.ts';
import { vrfTable } from '../../../../agent/model/registry/routing.ts';
import { parseNetworkId } from '../../../../net/ids.ts';
import { FAMILIES } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod } from '../cluster/cluster.ts';
import { layer2, layer3, namespace, pod } from '../cluster/manifests.ts';
import { type NetworkStatus, networksOn } from '../cluster/udnctl.ts';
import { nodeAddress, seenOverHttp } from '../networks/north-south.ts';

const GONE_MS = 60_000;
/** In a guest that has less than a processor to itself the first packets take long. */
const COME_MS = 60_000;
const FIRST_TABLE = vrfTable(parseNetworkId(0));

/** Networks of both kinds. @returns their namespaces, when their pods reach the outside */
export const comeTo = async (sandbox: Sandbox, node: 'node-1', name: string): Promise<readonly string[]> => {
  const names = [`${name}-routed`, `${name}-switched`];
  await applyAndWait(sandbox, [
    ...names.map((own) => namespace(own)),
    ...networks(names),
    ...names.map((own) => pod(own, 'a', node)),
  ]);
  for (const own of names) {
    for (const family of FAMILIES) {
      await eventually(async () => {
        expect(await seenOverHttp(sandbox, `${own}/a`, family)).toBe(nodeAddress(node, family));
      }, COME_MS);
    }
  }
  return names;
};

/** @returns when their patch ports are gone, too, which are the last */
export const goFrom = async (sandbox: Sandbox, node: string, names: readonly string[]): Promise<void> => {
  await deletePods(sandbox, ...names.map((own) => `${own}/a`));
  await (await sandbox.objects()).delete(networks(names), { timeoutSeconds: 30 });
  await eventually(async () => {
    const { stdout } = await sandbox.node(node, ['ovs-vsctl', 'list-ports', 'br-ex']);
    for (const own of names) expect(stdout).not.toContain(`_${own.replaceAll('-', '.')}_net_`);
  }, GONE_MS);
};

const networks = ([routed = '', switched = '']: readonly string[]): ManifestObject[] => [
  layer3(routed, 'net', ['10.78.0.0/16/24', 'fd00:78::/48/64']),
  layer2(switched, 'net', ['10.79.0.0/16', 'fd00:79::/64']),
];

interface Stays {
  /** A line that a monitor of the kernel or of nft has printed. */
  isConcernedBy(line: string): boolean;
}

/** By their names: what belongs to networks that stay, and to the node itself. */
export const readStays = async (sandbox: Sandbox, node: string, tenants: readonly string[]): Promise<Stays> => {
  const found = (await networksOn(sandbox, node)).filter(({ name }) => tenants.includes(name.split('_')[0] ?? ''));
  expect(found).toHaveLength(tenants.length);
  const pods = await Promise.all(tenants.map((tenant) => readPod(sandbox, `${tenant}/${tenant}-a`)));
  const names = [
    ...['br-ex', 'eth0', 'lo', 'ovn-k8s-mp0'],
    ...pods.flatMap(({ attachments }) => attachments.flatMap(({ addresses }) => addresses)),
    ...found.flatMap(({ id, masquerade }) => namesOfNetwork(id, masquerade)),
  ];
  const pattern = new RegExp(names.map((name) => `(?<![\\w.:-])${name.replaceAll('.', '\\.')}(?![\\w.:-])`).join('|'));
  const tables = new Set(found.map(({ id }) => vrfTable(parseNetworkId(id))));
  // Routes of other networks lead to the same bridge.
  const isOfAnother = (line: string): boolean => {
    const table = Number(/ table (\d+)/.exec(line)?.[1] ?? 0);
    return table >= FIRST_TABLE && !tables.has(table);
  };
  // A filter of a pod's link has numbers of headers in it, which are no marks; that of a pod that stays has its addresses.
  const withoutHeaders = (line: string): string =>
    line.replaceAll(/@ll,\d+,\d+ (?:& 0x[0-9a-f]+ == )?0x[0-9a-f-x]+/g, '');
  return {
    isConcernedBy: (line) => !line.startsWith('flows: ') && !isOfAnother(line) && pattern.test(withoutHeaders(line)),
  };
};

const namesOfNetwork = (number: number, masquerade: NetworkStatus['masquerade']): string[] => {
  const id = parseNetworkId(number);
  return [
    ...[`ovn-k8s-mp${id}`, `mp${id}-udn-vrf`, String(vrfTable(id))],
    ...[networkPacketMark(id), networkCtMark(id)].map((mark) => `0x${mark.toString(16)}`),
    ...(masquerade?.gateway ?? []),
    ...(masquerade?.management ?? []),
  ];
};

interface FlowEvents {
  readonly added: number;
  readonly deleted: number;
  /** None but flows that are there both before and after: they may not be touched at all. */
  readonly other: readonly string[];
}

/** What `ovs-ofctl monitor` printed. */
export const flowEvents = (lines: readonly string[]): FlowEvents => {
  const events = lines.filter((line) => line.startsWith('flows: ') && line.includes('event='));
  const of = (kind: string): number => events.filter((line) => line.includes(`event=${kind}`)).length;
  const other = events.filter((line) => !/event=(ADDED|DELETED)/.test(line));
  return { added: of('ADDED'), deleted: of('DELETED'), other };
};

/** What it should have printed: not one flow more than came or went. */
export const flowChanges = (difference: readonly string[]): FlowEvents => {
  const of = (sign: '+' | '-'): number => difference.filter((line) => line.startsWith(`flows: ${sign} `)).length;
  expect(of('+')).toBeGreaterThan(20);
  expect(of('-')).toBeGreaterThan(20);
  return { added: of('+'), deleted: of('-'), other: [] };
};
