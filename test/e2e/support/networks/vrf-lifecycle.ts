/** VRFs when the agent starts again, and when their networks go. Networks are those of north-south.ts. */
import { expect, it } from 'vitest';
import { FAMILIES } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { deletePods } from '../cluster/cluster.ts';
import { clusterNetwork, layer2 } from '../cluster/manifests.ts';
import { networkNamed } from '../cluster/udnctl.ts';
import { note } from '../faults/survive.ts';
import { masqueradeAddressesOf, translatedBy } from '../state/gone-networks.ts';
import { dumpDifference, dumpNode } from '../state/node-dump.ts';
import { isPassing } from '../state/passing-flows.ts';
import { nodeAddress, seenOverHttp } from './north-south.ts';
import { NODES, networkOf, podKey, TENANTS, type Tenant, vrfOf } from './north-south-tenants.ts';

const GOING = ['shop', 'gold'] as const;
const RESTART_MS = 60_000;
const REMOVAL_MS = 60_000;

/** The monitors of the kinds of objects that are ours, and which of their lines are about ours. */
const MONITORS = [
  {
    command: 'ip -o monitor link address route rule',
    isOurs: (line: string) => !/ (proto kernel|expires)\b/.test(line),
  },
  {
    command: 'ovs-ofctl monitor br-ex watch:!initial',
    isOurs: (line: string) => line.includes('event=') && !isPassing(line),
  },
  { command: 'nft monitor', isOurs: (line: string) => line.includes('ovn-udn') },
];

/** Call it where tests are declared, last: it deletes networks. */
export const vrfLifecycle = (cluster: () => Sandbox): void => {
  it('an agent that is killed and started again changes nothing', async () => {
    const [node] = NODES;
    const before = await dumpNode(cluster(), node);
    const pids = await startMonitors(cluster(), node);
    await cluster().kill(node, 'agent', 'SIGKILL');
    await eventually(() => cluster().node(node, ['udnctl', 'diff']), RESTART_MS * (await cluster().slowdown()));
    expect(await endMonitors(cluster(), node, pids)).toEqual([]);
    expect(dumpDifference(before, await dumpNode(cluster(), node))).toEqual([]);
  });

  // Its agent has just been started again: it did not see these networks come.
  it('nothing is left on any node of networks that are deleted, not even connections', async () => {
    const networks = await Promise.all(
      GOING.map(async (tenant) => ({ tenant, id: await networkId(cluster(), tenant) })),
    );
    const ofNetworks = new RegExp(networks.map(({ tenant, id }) => traces(tenant, id)).join('|'));
    const translated = translatedBy(networks.map(({ id }) => id));
    for (const node of NODES) {
      for (const tenant of GOING) {
        for (const family of FAMILIES) {
          expect(await seenOverHttp(cluster(), podKey(tenant, node), family)).toBe(nodeAddress(node, family));
        }
      }
      const connections = (await connectionsOf(cluster(), node)).filter((line) => translated.test(line));
      expect(connections.length).toBeGreaterThanOrEqual(GOING.length * FAMILIES.length);
    }
    const start = performance.now();
    const pods = GOING.flatMap((tenant) => NODES.map((node) => podKey(tenant, node)));
    await deletePods(cluster(), ...pods, 'shop/host');
    const objects = await cluster().objects();
    const gone = [layer2('gold', 'net', []), clusterNetwork('shop', 'shop', [])];
    await objects.delete(gone, { timeoutSeconds: 30 });
    await eventually(async () => {
      for (const node of NODES) {
        const dump = await dumpNode(cluster(), node);
        const lines = Object.values(dump).flat();
        expect(lines.filter((line) => ofNetworks.test(line))).toEqual([]);
        expect(dump['links']?.filter((line) => / 10000\d$/.test(line))).toHaveLength(TENANTS.length - GOING.length);
        expect((await connectionsOf(cluster(), node)).filter((line) => translated.test(line))).toEqual([]);
      }
    }, REMOVAL_MS);
    note(`nothing is left of ${GOING.length} networks after ${((performance.now() - start) / 1000).toFixed(1)} s`);
  });
};

/** In what lines: management ports, VRFs and their tables, packet marks, masquerade addresses, ports of br-ex. */
const traces = (tenant: Tenant, id: number): string =>
  [
    `\\bovn-k8s-mp${id}\\b`,
    `(^| )${vrfOf(tenant, id)}\\b`,
    `\\b${100_000 + id}\\b`,
    `\\b0x${(4096 + id).toString(16)}\\b`,
    ...masqueradeAddressesOf(id).map((address) => `\\b${address.replaceAll('.', '\\.')}(?![\\w:])`),
    `\\bct_mark=0x${(3 + id).toString(16)}\\b`,
    `\\bpatch-br-ex_${networkOf(tenant).replaceAll('-', '.')}_`,
  ].join('|');

/** In all zones: with the kernel's datapath the node's own are among them. */
const connectionsOf = async (sandbox: Sandbox, node: string): Promise<string[]> =>
  (await sandbox.node(node, ['ovs-appctl', 'dpctl/dump-conntrack'])).stdout.split('\n');

const networkId = async (sandbox: Sandbox, tenant: Tenant): Promise<number> =>
  (await networkNamed(sandbox, NODES[0], networkOf(tenant))).id;

const logOf = (index: number): string => `/run/monitor-${index}.log`;

const startMonitors = (sandbox: Sandbox, node: string): Promise<string[]> =>
  Promise.all(
    MONITORS.map(async ({ command }, index) => {
      const { stdout } = await sandbox.node(node, [
        'sh',
        '-c',
        `stdbuf -oL ${command} >${logOf(index)} 2>&1 & echo $!`,
      ]);
      return stdout.trim();
    }),
  );

/** @returns the events about ours */
const endMonitors = async (sandbox: Sandbox, node: string, pids: readonly string[]): Promise<string[]> => {
  await sandbox.node(node, ['kill', ...pids]);
  const reported = MONITORS.map(async ({ command, isOurs }, index) => {
    const { stdout } = await sandbox.node(node, ['cat', logOf(index)]);
    return stdout.split('\n').flatMap((line) => (line !== '' && isOurs(line) ? [`${command}: ${line}`] : []));
  });
  return (await Promise.all(reported)).flat();
};
