/**
 * Pods on networks of other plugins, natively: packets by a bridge of containernetworking, what the plugins are told, and what is left when
 * one fails or a pod goes. Needs root and `make build`; builds the plugins once.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAttachedNetworks } from '../../api/annotations/attached-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { addressOf as hostOf, networkOf, prefixLength } from '../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { planNetwork } from '../../sandbox/plan/netplan.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { nad, plainNamespace, pod, secondaryLayer2 } from './support/cluster/manifests.ts';
import { eventsOf } from './support/faults/events.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { throughput } from './support/packets/throughput.ts';

const cluster = useCluster({
  ...{ name: 'test-foreign-plugins', ipFamily: 'dual', kernel: 'host', nodes: 1 },
  cniPlugins: ['bandwidth', 'bridge', 'host-local', 'portmap', 'tuning'],
  settings: { UDN_FOREIGN_PLUGINS: 'bandwidth,bridge,host-local,portmap,tuning' },
});

const NODE = 'node-1';
const on = (name: string, networks: string | readonly object[]): ManifestObject =>
  pod('plain', name, NODE, {
    [POD_ANNOTATIONS.selection]: typeof networks === 'string' ? networks : JSON.stringify(networks),
  });

const ipam = { type: 'host-local', ranges: [[{ subnet: '10.95.0.0/24' }], [{ subnet: 'fd00:95::/64' }]] };
/** @param sysctl of the pod's end */
const lan = (sysctl: Readonly<Record<string, string>>): object => ({
  cniVersion: '1.0.0',
  name: 'lan',
  plugins: [
    { type: 'bridge', bridge: 'lan0', ipam, capabilities: { ips: true, mac: true } },
    { type: 'tuning', sysctl },
  ],
});

/** With a gateway on the node, by which answers go to hosts outside: the pod's default route is by its own network. */
const published = (): object => ({
  cniVersion: '1.0.0',
  name: 'published',
  plugins: [
    {
      ...{ type: 'bridge', bridge: 'pub0', isGateway: true },
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: '10.96.0.0/24' }], [{ subnet: 'fd00:96::/64' }]],
        routes: planNetwork('dual', 1).outside.addresses.map((address) => ({
          dst: networkOf(hostOf(address), prefixLength(address)),
        })),
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
    { type: 'bandwidth', capabilities: { bandwidth: true } },
  ],
});

const GOOD = { 'net.ipv4.conf.IFNAME.arp_filter': '1' };

beforeAll(async () => {
  await applyAndWait(cluster(), [
    plainNamespace('plain'),
    secondaryLayer2('plain', 'flat', ['10.90.0.0/24']),
    nad('plain', 'lan', lan(GOOD)),
    nad('plain', 'published', published()),
    nad('plain', 'bad', { ...lan({ 'net.ipv4.conf.IFNAME.nothing': '1' }), name: 'bad' }),
    nad('plain', 'macvlan', { cniVersion: '1.0.0', type: 'macvlan', master: 'eth0' }),
    on('a', 'lan,flat'),
    on('b', 'lan@lan1'),
  ]);
});

const inPod = async (name: string, ...command: readonly string[]): Promise<string> =>
  (await cluster().exec(`plain/${name}`, command)).stdout.trim();
const onNode = async (...command: readonly string[]): Promise<string> =>
  (await cluster().node(NODE, command)).stdout.trim();

const addressOf = async (name: string, device: string, family: Family): Promise<Ip> => {
  const text = await inPod(name, 'ip', '-o', `-${family}`, 'addr', 'show', 'dev', device, 'scope', 'global');
  const found = /inet6? ([^/]+)\//.exec(text)?.[1];
  if (found === undefined) throw new Error(`plain/${name} has no IPv${family} address on ${device}`);
  return parseIp(found);
};

/** What the plugins have made on the node: leases, ports of the bridge, and our records of both. */
const made = async (network: string): Promise<{ leases: string[]; ports: number; records: number }> => {
  const leases = await onNode('sh', '-c', `ls /var/lib/cni/networks/${network} 2>/dev/null || true`);
  const ports = await onNode('sh', '-c', 'ip -o link show master lan0 | wc -l');
  const records = await onNode('sh', '-c', 'ls /var/lib/ovn-udn/attachments | wc -l');
  return {
    leases: leases.split('\n').filter((name) => /^[0-9a-f]/.test(name)),
    ports: Number(ports),
    records: Number(records),
  };
};

describe('a pod that selects a network of another plugin', () => {
  it('reaches others by it, by both families, beside its own networks', async () => {
    for (const family of FAMILIES) {
      const [own, peer] = [await addressOf('a', 'net1', family), await addressOf('b', 'lan1', family)];
      expect(ipFamily(own)).toBe(family);
      await inPod('a', 'ping', '-c', '1', '-W', '2', peer);
      const host = family === 6 ? `[${peer}]` : peer;
      expect(await inPod('a', 'curl', '-sS', '-m', '3', `http://${host}:8080/hostname`)).toBe('b');
      const caller = await inPod('a', 'curl', '-sS', '-m', '3', `http://${host}:8080/clientip`);
      expect(caller).toContain(own);
    }
    expect(await addressOf('a', 'net2', 4)).toMatch(/^10\.90\.0\./);
    expect(await inPod('a', 'ip', 'route', 'show', 'default')).toContain('dev eth0');
  });

  it('has what the second plugin of the chain has set', async () => {
    expect(await inPod('a', 'cat', '/proc/sys/net/ipv4/conf/net1/arp_filter')).toBe('1');
  });

  it('has it in its network-status, behind its own networks, as its plugin reports it', async () => {
    const networks = await eventually(async () => {
      const { annotations = {} } = (await (await cluster().objects()).get('pod', 'plain/a')).metadata;
      return parseAttachedNetworks(annotations[POD_ANNOTATIONS.networkStatus] ?? '', 'plain/a');
    });
    expect(networks.map(({ name, interface: device }) => `${name} ${device}`)).toEqual([
      ...['ovn-kubernetes eth0', 'plain/flat net2', 'plain/lan net1'],
    ]);
    expect(networks.at(-1)).toMatchObject({
      ips: [await addressOf('a', 'net1', 4), await addressOf('a', 'net1', 6)],
      mac: await inPod('a', 'cat', '/sys/class/net/net1/address'),
    });
  });

  it('has the address and the MAC that it asks for', async () => {
    await applyAndWait(cluster(), [on('asks', [{ name: 'lan', ips: ['10.95.0.77'], mac: '02:00:00:00:00:77' }])]);
    expect(await addressOf('asks', 'net1', 4)).toBe('10.95.0.77');
    expect(await inPod('asks', 'cat', '/sys/class/net/net1/address')).toBe('02:00:00:00:00:77');
    await deletePods(cluster(), 'plain/asks');
  });

  it('is refused where the node does not run the plugin, and says so', async () => {
    await (await cluster().objects()).apply([on('refused', 'macvlan')]);
    const message =
      'plain/macvlan as net1: plugin macvlan is not in --foreign-plugins of the agents for NetworkAttachmentDefinitions of namespace plain';
    await eventually(async () =>
      expect((await eventsOf(cluster(), 'plain', 'refused')).map((event) => event.message)).toContain(message),
    );
    await deletePods(cluster(), 'plain/refused');
  });
});

describe('a chain with portmap and bandwidth', () => {
  const RATE_MBIT = 20;
  const bandwidth = {
    ...{ ingressRate: RATE_MBIT * 1e6, ingressBurst: 2e6 },
    ...{ egressRate: RATE_MBIT * 1e6, egressBurst: 2e6 },
  };
  const HOST_PORT = 18080;
  const portMappings = [{ hostPort: HOST_PORT, containerPort: 8080, protocol: 'TCP' }];

  beforeAll(async () => {
    await applyAndWait(cluster(), [
      on('web', [{ name: 'published', bandwidth, portMappings }]),
      on('client', 'published'),
    ]);
  });

  it.each(FAMILIES)(
    'publishes a port at the node’s IPv%d address, to hosts outside and to the node',
    async (family) => {
      const node = nodeAddress(NODE, family);
      const curl = ['curl', '-sS', '-m', '3', `http://${family === 6 ? `[${node}]` : node}:${HOST_PORT}/hostname`];
      expect((await cluster().outside(curl)).stdout.trim()).toBe('web');
      expect(await onNode(...curl)).toBe('web');
    },
  );

  it.each([
    [4, 'client', 'web'],
    [6, 'web', 'client'],
  ] as const)('limits by IPv%d what %s sends to %s', async (family, from, to) => {
    const transfer = { from: `plain/${from}`, to: `plain/${to}`, address: await addressOf(to, 'net1', family) };
    const measured = await throughput(cluster(), transfer);
    expect(measured).toBeLessThan(RATE_MBIT * 1.2);
    expect(measured).toBeGreaterThan(RATE_MBIT / 4);
  });

  it('leaves no rule and no device when the pod goes', async () => {
    const left = (): Promise<string> =>
      onNode('sh', '-c', `nft list ruleset | grep -c ${HOST_PORT}; ip -o link show type ifb | wc -l`);
    const [rules, devices] = (await left()).split('\n');
    expect(Number(rules)).toBeGreaterThan(0);
    expect(devices).toBe('1');
    await deletePods(cluster(), 'plain/web', 'plain/client');
    expect(await left()).toBe('0\n0');
  });
});

it('DEL takes the links and the addresses away', async () => {
  await applyAndWait(cluster(), [on('short', 'lan')]);
  expect(await made('lan')).toMatchObject({ ports: 3, records: 3 });
  await deletePods(cluster(), 'plain/short');
  const left = await made('lan');
  expect(left).toMatchObject({ ports: 2, records: 2 });
  expect(left.leases).toHaveLength(4);
});

it('nothing is left when the second plugin fails, the event says why, and the pod starts when the network is mended', async () => {
  await (await cluster().objects()).apply([on('unlucky', 'flat,bad')]);
  await eventually(async () => {
    const messages = (await eventsOf(cluster(), 'plain', 'unlucky')).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^plain\/bad as net2: plugin tuning: .*nothing/));
  });
  await (await cluster().objects()).apply([nad('plain', 'bad', { ...lan(GOOD), name: 'bad' })]);
  await (await cluster().objects()).wait('Pod', 'plain/unlucky', 'ready', { timeoutSeconds: 60 });
  expect(await made('bad')).toMatchObject({ ports: 3, records: 3 });
  expect((await made('bad')).leases).toHaveLength(2);
  await deletePods(cluster(), 'plain/unlucky');
  expect(await made('bad')).toEqual({ leases: [], ports: 2, records: 2 });
});

it('an agent that is started again takes away what the one before has made', async () => {
  await applyAndWait(cluster(), [on('later', 'lan')]);
  await cluster().kill(NODE, 'agent');
  await deletePods(cluster(), 'plain/later');
  expect(await made('lan')).toMatchObject({ ports: 2, records: 2 });
});
