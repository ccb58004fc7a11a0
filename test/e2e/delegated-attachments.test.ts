/**
 * `--multi-network=delegated`, with calls as Multus makes them: one for the default network by the kubelet, then one for each that the pod
 * selects, by hand. Needs root and `make build`.
 */
import { beforeAll, expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { FAMILIES } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer3, nad, namespace, pod, secondaryLayer2 } from './support/cluster/manifests.ts';

const cluster = useCluster({
  ...{ name: 'test-delegated', ipFamily: 'dual', kernel: 'host' },
  settings: { UDN_MULTI_NETWORK: 'delegated' },
});

const PODS = { a: 'node-1', b: 'node-2' } as const;
type Name = keyof typeof PODS;

beforeAll(async () => {
  const selects = { [POD_ANNOTATIONS.selection]: 'macvlan,flat' };
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
    secondaryLayer2('red', 'flat', ['10.90.0.0/24', 'fd00:90::/64']),
    // Of another plugin: Multus runs it, and this node is not asked.
    nad('red', 'macvlan', { cniVersion: '1.0.0', type: 'macvlan', master: 'eth0' }),
    ...Object.entries(PODS).map(([name, node]) => pod('red', name, node, selects)),
  ]);
});

const onNode = async (name: Name, script: string): Promise<string> =>
  (await cluster().node(PODS[name], ['sh', '-c', script])).stdout.trim();

/** Multus has the whole configuration of the NAD on stdin, and the environment of the runtime. */
const call = async (command: 'ADD' | 'CHECK' | 'DEL', name: Name, ifName: string): Promise<string> => {
  const config = { cniVersion: '1.0.0', name: 'red_flat', type: 'ovn-k8s-cni-overlay', netAttachDefName: 'red/flat' };
  const sandbox = await onNode(
    name,
    `ovs-vsctl --bare --columns=external_ids find Interface external_ids:iface-id=red_${name}`,
  );
  const containerId = /sandbox="?([0-9a-f]+)/.exec(sandbox)?.[1];
  const environment = [
    ...[`CNI_COMMAND=${command}`, `CNI_CONTAINERID=${containerId}`, `CNI_IFNAME=${ifName}`, 'CNI_PATH=/opt/cni/bin'],
    ...['CNI_NETNS=$(ls -d /run/netns/cni-*)', `CNI_ARGS='K8S_POD_NAMESPACE=red;K8S_POD_NAME=${name}'`],
  ];
  return await onNode(
    name,
    `echo '${JSON.stringify(config)}' | env ${environment.join(' ')} /opt/cni/bin/ovn-k8s-cni-overlay || true`,
  );
};

const linksOf = async (name: Name): Promise<string[]> =>
  (await cluster().exec(`red/${name}`, ['ls', '/sys/class/net'])).stdout.trim().split('\n');

it('the runtime’s call makes the default and the primary interface', async () => {
  expect(await linksOf('a')).toEqual(['eth0', 'lo', 'ovn-udn1']);
});

it('each call for a network makes that one, and pods reach each other by it', async () => {
  for (const name of ['a', 'b'] as const) {
    const { interfaces, ips } = JSON.parse(await call('ADD', name, 'net2'));
    expect(interfaces.map((one: { name: string }) => one.name)).toEqual([expect.any(String), 'net2']);
    expect(ips).toHaveLength(2);
    expect(await linksOf(name)).toEqual(['eth0', 'lo', 'net2', 'ovn-udn1']);
    expect(await call('CHECK', name, 'net2')).toBe('');
  }
  const { attachments } = await readPod(cluster(), 'red/b');
  const addresses = attachments.find(({ network }) => network === 'red_flat')?.addresses ?? [];
  expect(addresses).toHaveLength(FAMILIES.length);
  for (const address of addresses)
    await eventually(() => cluster().exec('red/a', ['ping', '-c', '1', '-W', '1', address]));
});

it('a call for what the pod does not select is refused', async () => {
  expect(JSON.parse(await call('ADD', 'a', 'net1'))).toMatchObject({
    code: 7,
    msg: 'the pod does not select red/flat as net1',
  });
});

it('DEL takes one away, and that of the runtime the rest', async () => {
  const ports = 'ovs-vsctl --bare --columns=external_ids list Interface | grep -c sandbox= || true';
  expect(await onNode('a', ports)).toBe('3');
  expect(await call('DEL', 'a', 'net2')).toBe('');
  expect(await linksOf('a')).toEqual(['eth0', 'lo', 'ovn-udn1']);
  await deletePods(cluster(), 'red/a', 'red/b');
  for (const name of ['a', 'b'] as const) expect(await onNode(name, ports)).toBe('0');
});
