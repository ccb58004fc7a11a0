/**
 * `--multi-network=delegated` under the real Multus, which the runtime calls: it calls for the default network, then for each that the pod
 * selects, of ovn-udn and of other plugins. With real kubelets and containerd. Needs root and `make build`; builds Multus once.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AttachedNetwork, parseAttachedNetworks } from '../../api/annotations/attached-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { FAMILIES } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { layer3, nad, namespace, pod, secondaryLayer2 } from './support/cluster/manifests.ts';
import { eventsOf } from './support/faults/events.ts';
import { installMultus } from './support/multus/multus.ts';

const cluster = useCluster({
  ...{ name: 'test-delegated', ipFamily: 'dual', kernel: 'host', kubelet: 'real' },
  cniPlugins: ['bridge', 'host-local', 'multus'],
  settings: { UDN_MULTI_NETWORK: 'delegated' },
  // Multus is built before where the cache lacks it.
  timeoutSeconds: 900,
});

const PODS = { a: 'node-1', b: 'node-2', c: 'node-1' } as const;
type Name = keyof typeof PODS;

const ipam = { type: 'host-local', ranges: [[{ subnet: '10.95.0.0/24' }], [{ subnet: 'fd00:95::/64' }]] };

const on = (name: string, node: string, networks: string | readonly object[]): ManifestObject =>
  pod('red', name, node, {
    [POD_ANNOTATIONS.selection]: typeof networks === 'string' ? networks : JSON.stringify(networks),
  });

beforeAll(async () => {
  await installMultus(cluster(), ['node-1', 'node-2']);
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
    secondaryLayer2('red', 'flat', ['10.90.0.0/24', 'fd00:90::/64']),
    nad('red', 'lan', { cniVersion: '1.0.0', name: 'lan', type: 'bridge', bridge: 'lan0', ipam }),
    nad('red', 'bad', { cniVersion: '1.0.0', name: 'bad', type: 'bridge', bridge: 'a-name-that-is-too-long', ipam }),
    ...Object.entries(PODS).map(([name, node]) => on(name, node, 'lan,flat')),
  ]);
});

const onNode = async (node: string, script: string): Promise<string> =>
  (await cluster().node(node, ['sh', '-c', script])).stdout.trim();
const inPod = async (name: string, ...command: readonly string[]): Promise<string> =>
  (await cluster().exec(`red/${name}`, command)).stdout.trim();
const linksOf = async (name: string): Promise<string[]> => (await inPod(name, 'ls', '/sys/class/net')).split('\n');

const podOf = async (name: string) => (await cluster().objects()).get('pod', `red/${name}`);
const statusOf = async (name: string): Promise<readonly AttachedNetwork[]> => {
  const { annotations = {} } = (await podOf(name)).metadata;
  return parseAttachedNetworks(annotations[POD_ANNOTATIONS.networkStatus] ?? '', `red/${name}`);
};
const addressesOf = async (name: Name, device: string): Promise<readonly string[]> =>
  (await statusOf(name)).find((network) => network.interface === device)?.ips ?? [];

describe('a pod that selects a network of ovn-udn and one of another plugin', () => {
  it('has them beside the default and the primary one', async () => {
    for (const name of ['a', 'b', 'c']) expect(await linksOf(name)).toEqual(['eth0', 'lo', 'net1', 'net2', 'ovn-udn1']);
  });

  it.each([
    ['ovn-udn1', 'b', 'the primary network, on another node'],
    ['net2', 'b', 'the secondary one, on another node'],
    ['net2', 'c', 'the secondary one, on its own node'],
    ['net1', 'c', 'the bridge of another plugin'],
  ] as const)('reaches by %s pod %s: %s, by both families', async (device, peer, _) => {
    const addresses = await addressesOf(peer, device);
    expect(addresses).toHaveLength(FAMILIES.length);
    for (const address of addresses)
      await eventually(async () => inPod('a', 'ping', '-c', '1', '-W', '1', '-I', device, address));
  });

  it('has a network-status of Multus, and of nobody else', async () => {
    const found = (await statusOf('a')).map(({ name, interface: device, default: isDefault }) => [
      name,
      device,
      isDefault,
    ]);
    expect(found).toEqual([
      ['ovn-kubernetes', 'eth0', false],
      ['ovn-kubernetes', 'ovn-udn1', true],
      ['red/lan', 'net1', false],
      ['red/flat', 'net2', false],
    ]);
    const { managedFields = [] } = fieldsSchema.parse((await podOf('a')).metadata);
    const writers = managedFields.filter(({ fieldsV1 }) =>
      JSON.stringify(fieldsV1).includes(POD_ANNOTATIONS.networkStatus),
    );
    expect(writers.map(({ manager, subresource }) => [manager, subresource])).toEqual([['multus', 'status']]);
  });

  it('agents report no problem of the node’s configuration', async () => {
    expect(await onNode('node-1', 'udnctl problems')).not.toContain('Multus');
  });
});

const fieldsSchema = z.object({
  managedFields: z
    .array(z.object({ manager: z.string(), subresource: z.string().optional(), fieldsV1: z.unknown() }))
    .optional(),
});

it('the runtime gets a result of a version that containerd 1.7 knows', async () => {
  const results = await onNode('node-1', 'cat /var/lib/cni/multus/results/ovn-kubernetes-*-eth0');
  expect([...results.matchAll(/"result":\{"cniVersion":"([^"]+)"/g)].map(([, version]) => version)).toEqual([
    '1.0.0',
    '1.0.0',
  ]);
});

it('a pod routes by the network that has its default route, and not by the primary one', async () => {
  const networks = [
    { name: 'flat', ips: ['10.90.0.77', 'fd00:90::77'], 'default-route': ['10.90.0.99', 'fd00:90::99'] },
  ];
  await applyAndWait(cluster(), [on('routed', 'node-1', networks)]);
  for (const family of FAMILIES)
    expect(await inPod('routed', 'ip', `-${family}`, 'route', 'show', 'default')).toMatch(
      /^default via \S+ dev net1[^\n]*$/,
    );
  await deletePods(cluster(), 'red/routed');
});

/** What is on a node: OVS ports of pods, ports of the bridge, addresses given by host-local, results that Multus keeps. */
const left = async (): Promise<string[]> =>
  (
    await onNode(
      'node-1',
      `ovs-vsctl --bare --columns=external_ids list Interface | grep -c sandbox= || true
       ip -o link show master lan0 | wc -l
       ls /var/lib/cni/networks/lan | grep -c '^[0-9a-f]*[.:]' || true
       ls /var/lib/cni/multus/results /var/lib/cni/multus | grep -c '[0-9a-f]\\{64\\}' || true`,
    )
  ).split('\n');

it('a pod whose plugin fails has nothing left, and its event says why', async () => {
  const before = await left();
  await (await cluster().objects()).apply([on('failing', 'node-1', 'flat,lan,bad')]);
  await eventually(async () =>
    expect((await eventsOf(cluster(), 'red', 'failing')).map(({ message }) => message)).toContainEqual(
      expect.stringContaining('error adding container to network "bad"'),
    ),
  );
  await deletePods(cluster(), 'red/failing');
  expect(await left()).toEqual(before);
});

it('a selection that cannot be followed is refused before anything of it is made', async () => {
  await (await cluster().objects()).apply([on('refused', 'node-1', [{ name: 'flat', ips: ['10.91.0.1'] }])]);
  await eventually(async () =>
    expect((await eventsOf(cluster(), 'red', 'refused')).map(({ message }) => message)).toContainEqual(
      expect.stringContaining('10.91.0.1'),
    ),
  );
  await deletePods(cluster(), 'red/refused');
});

it('DEL takes all of it away', async () => {
  expect(await left()).toEqual(['6', '2', '4', '8']);
  await deletePods(cluster(), 'red/a', 'red/b', 'red/c');
  expect(await left()).toEqual(['0', '0', '0', '0']);
});
