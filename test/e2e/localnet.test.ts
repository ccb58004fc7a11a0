/**
 * Pods on physical networks: untagged and on VLANs behind br-ex, and behind a bridge of the administrator's. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { clusterLocalnet, nad, plainNamespace, pod } from './support/cluster/manifests.ts';
import { eventsOf } from './support/faults/events.ts';
import { type NamedFrame, NODE, namesOf, OTHER_NODE, sendAndWatch } from './support/hostile/attacks.ts';
import { installMultiPolicies, multiPolicy } from './support/networks/multi-policies.ts';
import { nodeAddress, outside, pings } from './support/networks/north-south.ts';
import { makeVlanHost, vlanPort } from './support/networks/vlan-hosts.ts';
import { ALL_NODES, arp, BROADCAST, udp, udpFragment } from './support/packets/frames.ts';
import { withPolicies } from './support/policies/with-policies.ts';

const cluster = useCluster({ name: 'test-localnet', ipFamily: 'dual' });

/** Its pods have the default network as their primary one. */
const LAN: ManifestObject = { ...plainNamespace('lan'), metadata: { name: 'lan', labels: { team: 'lan' } } };
/** A network that is seconds old has its conditions when its nodes have reported. */
const REPORTED_MS = 60_000;
const BARE = { physicalNetworkName: 'physnet', ipam: { mode: 'Disabled' } };
const onVlan = (vlan: number): ManifestObject =>
  clusterLocalnet(
    `v${vlan}`,
    'lan',
    { physicalNetworkName: 'physnet', subnets: [`10.${vlan}.0.0/24`, `fd00:${vlan}::/64`] },
    vlan,
  );
const on = (name: string, node: string, networks: string): ManifestObject =>
  pod('lan', name, node, { [POD_ANNOTATIONS.selection]: networks });

/** Hosts of VLANs: the last addresses that pods get. */
const HOSTS: Readonly<Record<number, readonly Ip[]>> = {
  100: [parseIp('10.100.0.250'), parseIp('fd00:100::fa')],
  200: [parseIp('10.200.0.250'), parseIp('fd00:200::fa')],
};

beforeAll(async () => {
  for (const vlan of [100, 200])
    await makeVlanHost(cluster(), { node: OTHER_NODE, bridge: 'br-ex', vlan, addresses: HOSTS[vlan] ?? [] });
  await applyAndWait(cluster(), [
    LAN,
    plainNamespace('plain'),
    // The nodes' own network, of which they have the lower half.
    clusterLocalnet('near', 'lan', {
      physicalNetworkName: 'physnet',
      subnets: ['172.20.0.0/24', 'fd00:172:20::/64'],
      excludeSubnets: ['172.20.0.0/25', 'fd00:172:20::/120'],
    }),
    clusterLocalnet('bare', 'lan', BARE),
    clusterLocalnet('bare100', 'lan', BARE, 100),
    onVlan(100),
    onVlan(200),
    pod('plain', 'same', NODE),
    pod('plain', 'other', OTHER_NODE),
    on('a', NODE, 'near,v100'),
    on('b', OTHER_NODE, 'v100,v200'),
    on('x', NODE, 'bare,bare100'),
  ]);
});

const statusSchema = z.object({
  status: z.object({
    conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
  }),
});

const addressOn = async (key: string, network: string, family: Family): Promise<Ip> => {
  const { attachments } = await readPod(cluster(), key);
  const found = attachments
    .find((one) => one.network.endsWith(network))
    ?.addresses.find((ip) => ipFamily(ip) === family);
  if (found === undefined) throw new Error(`${key} has no IPv${family} address on ${network}`);
  return found;
};

const pingsFromNode = async (node: string, to: Ip): Promise<boolean> =>
  (
    await cluster().node(node, ['bash', '-c', `ping -c 1 -W 2 ${to} > /dev/null && echo yes || echo no`])
  ).stdout.trim() === 'yes';

const pingsBy = async (from: string, device: string, to: Ip): Promise<boolean> => {
  const command = `ping -c 1 -W 1 -I ${device} ${to} > /dev/null && echo yes || echo no`;
  return (await cluster().exec(from, ['bash', '-c', command])).stdout.trim() === 'yes';
};

describe.each(FAMILIES)('a pod on the nodes’ own network, IPv%s', (family) => {
  it('is reached by the outside, by nodes and by pods of the default network, and reaches them', async () => {
    const own = await addressOn('lan/a', '_near', family);
    const found = async () => ({
      outside: await pingsBy('lan/a', 'net1', outside(family)),
      itsNode: await pingsBy('lan/a', 'net1', nodeAddress(NODE, family)),
      otherNode: await pingsBy('lan/a', 'net1', nodeAddress(OTHER_NODE, family)),
      fromItsNode: await pingsFromNode(NODE, own),
      fromOtherNode: await pingsFromNode(OTHER_NODE, own),
      fromPodHere: await pings(cluster(), 'plain/same', own),
      fromPodElsewhere: await pings(cluster(), 'plain/other', own),
    });
    await eventually(async () =>
      expect(await found()).toEqual({
        ...{ outside: true, itsNode: true, otherNode: true, fromItsNode: true, fromOtherNode: true },
        ...{ fromPodHere: true, fromPodElsewhere: true },
      }),
    );
    const host = family === 6 ? `[${own}]` : own;
    const { stdout } = await cluster().outside(['curl', '-sg', '--max-time', '3', `http://${host}:8080/hostname`]);
    expect(stdout.trim()).toBe('a');
  });
});

describe('a pod on a VLAN', () => {
  it('reaches the hosts and pods of it, on other nodes, too', async () => {
    const index = (family: Family): number => (family === 4 ? 0 : 1);
    for (const family of FAMILIES) {
      const host = HOSTS[100]?.[index(family)] ?? outside(family);
      await eventually(async () => expect(await pingsBy('lan/a', 'net2', host)).toBe(true));
      const peer = await addressOn('lan/b', '_v100', family);
      await eventually(async () => expect(await pingsBy('lan/a', 'net2', peer)).toBe(true));
    }
  });

  it('without IPAM has the addresses that it takes, and no other VLAN', async () => {
    await cluster().exec('lan/x', ['ip', 'addr', 'add', '10.100.0.77/24', 'dev', 'net2']);
    await cluster().exec('lan/x', ['ip', 'addr', 'add', '10.200.0.77/24', 'dev', 'net2']);
    await eventually(async () => expect(await pingsBy('lan/x', 'net2', parseIp('10.100.0.250'))).toBe(true));
    expect(await pingsBy('lan/x', 'net2', parseIp('10.200.0.250'))).toBe(false);
    expect(await pingsBy('lan/b', 'net2', parseIp('10.200.0.250'))).toBe(true);
  });

  it('moves with it to another one, while it runs, when its NAD is edited', async () => {
    const objects = await cluster().objects();
    const onWire = (vlanID: number): ManifestObject =>
      nad('lan', 'wire', {
        ...{ cniVersion: '1.0.0', type: 'ovn-k8s-cni-overlay', name: 'wire', netAttachDefName: 'lan/wire' },
        ...{ topology: 'localnet', role: 'secondary', physicalNetworkName: 'physnet', vlanID },
      });
    await applyAndWait(cluster(), [onWire(100), on('m', NODE, 'wire')]);
    for (const address of ['10.100.0.99/24', '10.200.0.99/24', 'fd00:100::99/64', 'fd00:200::99/64'])
      await cluster().exec('lan/m', ['ip', 'addr', 'add', address, 'dev', 'net1']);
    const reached = async (): Promise<readonly Ip[]> => {
      const hosts = Object.values(HOSTS).flat();
      const pinged = await Promise.all(hosts.map((host) => pingsBy('lan/m', 'net1', host)));
      return hosts.filter((_, index) => pinged[index]);
    };
    await eventually(async () => expect(await reached()).toEqual(HOSTS[100]));
    await objects.apply([onWire(200)]);
    await eventually(async () => expect(await reached()).toEqual(HOSTS[200]));
    expect((await eventsOf(cluster(), 'lan', 'wire')).map(({ message }) => message)).toContain(
      'network wire has another vlanID now: all of its pods are there, those that run included',
    );
    await deletePods(cluster(), 'lan/m');
    await objects.delete([onWire(200)]);
  });
});

it('a pod that may have any address is no node, no next hop, no tunnel, and no DHCP server', async () => {
  const mac = (await cluster().exec('lan/x', ['cat', '/sys/class/net/net1/address'])).stdout.trim();
  const nodeMac = (await cluster().node(NODE, ['cat', '/sys/class/net/br-ex/address'])).stdout.trim();
  const outsideMac = (await cluster().outside(['cat', '/sys/class/net/eth0/address'])).stdout.trim();
  const own = parseIp('172.20.0.120');
  const frame = (name: string, build: NamedFrame['build']): NamedFrame => ({ name, device: 'net1', build });
  const to = { from: mac, to: outsideMac };
  const claims = (name: string, tell: Ip): NamedFrame =>
    frame(name, (payload) =>
      Buffer.concat([arp({ from: mac, to: BROADCAST }, { op: 'reply', tell, about: tell }), Buffer.from(payload)]),
    );
  const sends = (name: string, src: Ip, dst: Ip, dstPort = 8081): NamedFrame =>
    frame(name, (payload) => udp(to, { src, dst, dstPort, payload }));
  const inFragments = (name: string, dstPort: number, id: number): NamedFrame[] =>
    ([0, 1] as const).map((index) =>
      frame(name, (payload) => udpFragment(to, { src: own, dst: outside(4), dstPort, payload }, { id, index })),
    );
  const offers = (name: string, src: Ip, dst: Ip, dstPort: number): NamedFrame =>
    frame(name, (payload) => udp({ from: mac, to: BROADCAST }, { src, dst, srcPort: 1067, dstPort, payload }));
  const honest = [
    sends('honest', own, outside(4)),
    claims('honest claim', own),
    ...inFragments('honest fragments', 8081, 71),
    offers('honest broadcast', own, parseIp('255.255.255.255'), 8081),
    offers('honest multicast', parseIp('fd00:172:20::77'), ALL_NODES, 8081),
  ];
  const attacks = [
    claims('ARP as the node', nodeAddress(NODE, 4)),
    claims('ARP as the next hop', parseIp('172.20.0.1')),
    claims('ARP as another node', nodeAddress(OTHER_NODE, 4)),
    sends('as another node', nodeAddress(OTHER_NODE, 4), outside(4)),
    offers('as a DHCP server', own, parseIp('255.255.255.255'), 68),
    offers('as a DHCPv6 server', parseIp('fd00:172:20::77'), ALL_NODES, 546),
    ...inFragments('as a DHCP server in fragments', 68, 72),
    claims('ARP as a masquerade address', parseIp('169.254.0.11')),
    sends('as the node', nodeAddress(NODE, 4), outside(4)),
    sends('as a masquerade address', parseIp('169.254.0.11'), outside(4)),
    sends('to a tunnel', own, nodeAddress(OTHER_NODE, 4), 6081),
    frame('with the node’s MAC', (payload) =>
      udp({ from: nodeMac, to: outsideMac }, { src: own, dst: outside(4), payload }),
    ),
  ];
  const seen = await sendAndWatch(cluster(), 'lan/x', attacks, honest, ['plain/same', 'plain/other', 'lan/a']);
  expect([...new Set(namesOf(seen))].filter((name) => !name.startsWith('honest'))).toEqual([]);
  expect(namesOf(seen)).toEqual(
    expect.arrayContaining([
      ...['honest', 'honest fragments', 'honest broadcast', 'honest multicast'].map((name) => `${name} @ outside`),
      'honest claim @ lan/a',
    ]),
  );
});

describe('a physical network of the administrator’s bridge', () => {
  const FAR = clusterLocalnet('far', 'lan', { physicalNetworkName: 'dc', subnets: ['10.30.0.0/24'] }, 300);
  const map = (mappings: string): Promise<unknown> =>
    cluster().node(NODE, ['ovs-vsctl', 'set', 'Open_vSwitch', '.', `external_ids:ovn-bridge-mappings="${mappings}"`]);
  const SENTENCE = 'ovn-bridge-mappings of its Open vSwitch has no bridge for physical network dc';
  const host = parseIp('10.30.0.250');

  it('is not on a node without a mapping: the pod says so, and starts once there is one', async () => {
    await cluster().node(NODE, [
      'ovs-vsctl',
      'add-br',
      'br-dc',
      '--',
      'set',
      'Bridge',
      'br-dc',
      'datapath_type=netdev',
    ]);
    await makeVlanHost(cluster(), { node: NODE, bridge: 'br-dc', vlan: 300, addresses: [host] });
    await applyAndWait(cluster(), [FAR]);
    const objects = await cluster().objects();
    await objects.apply([on('w', NODE, 'far')]);
    await eventually(async () =>
      expect((await eventsOf(cluster(), 'lan', 'w')).map(({ message }) => message).join('\n')).toContain(SENTENCE),
    );
    await map('physnet:br-ex,dc:br-dc');
    await objects.wait('pod', 'lan/w', 'ready', { timeoutSeconds: 30 });
    await eventually(async () => expect(await pingsBy('lan/w', 'net1', host)).toBe(true));
  });

  it('goes with the mapping and comes back with it, and the network says so', async () => {
    const objects = await cluster().objects();
    const nodesReady = async (): Promise<unknown> =>
      statusSchema
        .parse(await objects.get('ClusterUserDefinedNetwork', 'far'))
        .status.conditions.find(({ type }) => type === 'NodesReady');
    // The other node has never had one, and serves every network whether it has pods there or not.
    const failing = (...nodes: readonly string[]) => ({
      ...{ type: 'NodesReady', status: 'False', reason: 'NodesFailing' },
      message: `${nodes.length} of 2 nodes cannot program the network: ${nodes
        .map((node) => `${node}: network cluster_udn_far is not on node ${node}: ${SENTENCE}`)
        .join('; ')}`,
    });
    await map('physnet:br-ex');
    await eventually(async () => expect(await nodesReady()).toEqual(failing(NODE, OTHER_NODE)), REPORTED_MS);
    await eventually(async () => expect(await pingsBy('lan/w', 'net1', host)).toBe(false));
    await map('physnet:br-ex,dc:br-dc');
    await eventually(async () => expect(await pingsBy('lan/w', 'net1', host)).toBe(true));
    await eventually(async () => expect(await nodesReady()).toEqual(failing(OTHER_NODE)), REPORTED_MS);
    // What was there before is as it was.
    expect(await pingsBy('lan/a', 'net1', outside(4))).toBe(true);
  }, 180_000);
});

it('under a MultiNetworkPolicy is reached by pods that it selects, and not by hosts of the physical network', async () => {
  await installMultiPolicies(cluster(), [NODE, OTHER_NODE]);
  const pingsByHost = async (vlan: number, to: Ip): Promise<boolean> => {
    const command = `ping -c 1 -W 1 -I ${vlanPort(vlan)} ${to} > /dev/null && echo yes || echo no`;
    return (await cluster().node(OTHER_NODE, ['bash', '-c', command])).stdout.trim() === 'yes';
  };
  const found = async (family: Family) => {
    const [a, b] = [await addressOn('lan/a', '_v100', family), await addressOn('lan/b', '_v100', family)];
    const host = HOSTS[100]?.find((ip) => ipFamily(ip) === family) ?? outside(family);
    return {
      podToPod: await pingsBy('lan/b', 'net1', a),
      andBack: await pingsBy('lan/a', 'net2', b),
      podToHost: await pingsBy('lan/a', 'net2', host),
      hostToPod: await pingsByHost(100, a),
      otherVlan: await pingsByHost(200, await addressOn('lan/b', '_v200', family)),
    };
  };
  const OPEN = { podToPod: true, andBack: true, podToHost: true, hostToPod: true, otherVlan: true };
  const pods = multiPolicy('lan', 'pods', 'v100', { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] });
  for (const family of FAMILIES) await eventually(async () => expect(await found(family)).toEqual(OPEN));
  await withPolicies(cluster(), [pods], async () => {
    for (const family of FAMILIES)
      await eventually(async () => expect(await found(family)).toEqual({ ...OPEN, hostToPod: false }));
  });
  for (const family of FAMILIES) await eventually(async () => expect(await found(family)).toEqual(OPEN));
}, 120_000);
