/** Networks that come in order to go, and how to see that nothing of them is left. */
import { expect } from 'vitest';
import { networkCtMark } from '../../../../agent/model/registry/marks.ts';
import type { NetworkId } from '../../../../net/ids.ts';
import { FAMILIES } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { layer2, layer3, namespace, pod } from '../cluster/manifests.ts';
import { networkNamed, type Said, udnctl } from '../cluster/udnctl.ts';
import { note } from '../faults/survive.ts';
import { nodeAddress, seenOverHttp } from '../networks/north-south.ts';
import { type NodeDump, untilAsBefore } from './node-dump.ts';
import { ownRowsNaming } from './rows.ts';

export const NODES = ['node-1', 'node-2'] as const;
export const NODE = NODES[0];
const GONE_MS = 60_000;
/** Less than the time of a test, so that the error names what is left. */
const LONGEST_MS = 120_000;

export const patience = async (sandbox: Sandbox): Promise<number> =>
  Math.min(GONE_MS * (await sandbox.slowdown()), LONGEST_MS);

export const untilSeenOutside = async (sandbox: Sandbox, from: string): Promise<void> => {
  for (const family of FAMILIES) {
    await eventually(async () => expect(await seenOverHttp(sandbox, from, family)).toBe(nodeAddress(NODE, family)));
  }
};

interface Tenants {
  /** With a namespace for each. */
  readonly networks: ManifestObject[];
  readonly pods: string[];
}

/** Of both kinds, with pods on both nodes. */
export const tenants = (count: number, name: string): Tenants => {
  const names = Array.from({ length: count }, (_, index) => `${name}${index}`);
  return {
    networks: names.flatMap((tenant, index) => [
      namespace(tenant),
      index % 2 === 0
        ? layer3(tenant, 'net', ['10.81.0.0/16/24', 'fd00:81::/48/64'])
        : layer2(tenant, 'net', ['10.82.0.0/16', 'fd00:82::/64']),
    ]),
    pods: names.flatMap((tenant) => [`${tenant}/a`, `${tenant}/b`]),
  };
};

export const podsOf = (keys: readonly string[]): ManifestObject[] =>
  keys.map((key) => {
    const [tenant = '', name = ''] = key.split('/');
    return pod(tenant, name, name === 'a' ? NODES[0] : NODES[1]);
  });

export const idOf = async (sandbox: Sandbox, tenant: string): Promise<number> =>
  (await networkNamed(sandbox, NODE, `${tenant}_net`)).id;

/** Everything that a node has is as it was, no row names the networks, no connection is of them. */
export const untilNothingIsLeft = async (
  sandbox: Sandbox,
  before: ReadonlyMap<string, NodeDump>,
  name: string,
  ids: readonly NetworkId[],
): Promise<void> => {
  const start = performance.now();
  const timeoutMs = await patience(sandbox);
  const progress = (what: string): void =>
    note(`${name}: ${what} after ${((performance.now() - start) / 1000).toFixed(1)} s`);
  for (const node of NODES) {
    await untilAsBefore(sandbox, node, before.get(node) ?? {}, timeoutMs);
    progress(`${node} is as it was`);
    // The last ones are patch ports, with which ovn-controller takes its time.
    await eventually(async () => expect(await ownRowsNaming(sandbox, node, name)).toEqual([]), timeoutMs);
    progress(`no row of ${node} names it`);
  }
  const marks = ids.map(networkCtMark);
  await eventually(async () => {
    expect((await marksSeen(sandbox)).filter((mark) => marks.includes(mark))).toEqual([]);
    progress('no connection has its mark');
    expect(await connectionsOfGone(sandbox, ids)).toEqual([]);
    progress('no zone has a connection of its pods');
  }, timeoutMs);
  await eventually(async () => expect(await doctor(sandbox)).toMatchObject({ status: 0 }), timeoutMs);
};

/** Of connections through the gateway bridge. */
export const marksSeen = async (sandbox: Sandbox): Promise<number[]> => {
  const { stdout } = await sandbox.node(NODE, ['ovs-appctl', 'dpctl/dump-conntrack', 'zone=64000']);
  return [...stdout.matchAll(/\bmark=(\d+)/g)].map(([, mark]) => Number(mark));
};

/**
 * In all zones of the datapath, and in the kernel: nobody but networks that go has these addresses. With their masquerade addresses
 * those that were begun by them, or answer them: what somebody else has tried to open to such an address is not theirs.
 */
export const connectionsOfGone = async (sandbox: Sandbox, ids: readonly number[]): Promise<string[]> => {
  const commands = ['ovs-appctl dpctl/dump-conntrack', 'conntrack -L -f ipv4', 'conntrack -L -f ipv6'];
  const { stdout } = await sandbox.node(NODE, ['sh', '-ec', commands.join('; ')]);
  const lines = stdout.split('\n');
  const translated = ids.length === 0 ? undefined : translatedBy(ids);
  return lines.filter((line) => /=(10\.8[12]\.|fd00:8[12]:)/.test(line) || translated?.test(line) === true);
};

/** Lines of OVS, of connections in whose name a network's masquerade address stands. */
export const translatedBy = (ids: readonly number[]): RegExp => {
  const addresses = ids.flatMap(masqueradeAddressesOf).join('|').replaceAll('.', '\\.');
  return new RegExp(`orig=\\(src=(${addresses}),|reply=\\(src=[^,]*,dst=(${addresses}),`);
};

export const masqueradeAddressesOf = (id: number): readonly string[] =>
  [9 + 2 * id, 10 + 2 * id].flatMap((offset) => [`169.254.0.${offset}`, `fd69::${offset.toString(16)}`]);

export const doctor = (sandbox: Sandbox, ...flags: readonly string[]): Promise<Said> =>
  udnctl(sandbox, NODE, 'doctor', ...flags);
