/**
 * Pods on networks of other plugins, natively: packets by a bridge of containernetworking, what the plugins are told, and what is left when
 * one fails or a pod goes. Needs root and `make build`; builds the plugins once.
 * Over 300 lines: all of it by the plugins of one cluster, whose start is most of the time.
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
import { callShim, podArguments } from './support/faults/shim.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { throughput } from './support/packets/throughput.ts';

const cluster = useCluster({
  ...{ name: 'test-foreign-plugins', ipFamily: 'dual', kernel: 'host', nodes: 1 },
  cniPlugins: ['bandwidth', 'bridge', 'host-local', 'portmap', 'tuning'],
  settings: { UDN_FOREIGN_PLUGINS: 'bandwidth,bridge,device,host-local,portmap,tuning' },
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

const EXIT_GATEWAYS = ['10.97.0.1', 'fd00:97::1'];
/** With a gateway on the node, and no route but that to its subnets. */
const exit = (): object => ({
  ...{ cniVersion: '1.0.0', name: 'exit', type: 'bridge', bridge: 'exit0', isGateway: true },
  ipam: { type: 'host-local', ranges: [[{ subnet: '10.97.0.0/24' }], [{ subnet: 'fd00:97::/64' }]] },
});

/**
 * Makes default routes that nobody has asked for. Each of these networks has a bridge of its own: one with two ports may have the MAC of the
 * second, and the plugin's CHECK of the first then fails.
 */
const greedy = (name: string, number: number): object => ({
  ...{ cniVersion: '1.0.0', name, type: 'bridge', bridge: `${name}0` },
  ipam: {
    type: 'host-local',
    ranges: [
      [{ subnet: `10.${number}.0.0/24`, gateway: `10.${number}.0.1` }],
      [{ subnet: `fd00:${number}::/64`, gateway: `fd00:${number}::1` }],
    ],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
  },
});

const GOOD = { 'net.ipv4.conf.IFNAME.arp_filter': '1' };

beforeAll(async () => {
  await applyAndWait(cluster(), [
    plainNamespace('plain'),
    secondaryLayer2('plain', 'flat', ['10.90.0.0/24']),
    nad('plain', 'lan', lan(GOOD)),
    nad('plain', 'published', published()),
    nad('plain', 'exit', exit()),
    nad('plain', 'greedy', greedy('greedy', 98)),
    nad('plain', 'greedier', greedy('greedier', 99)),
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

describe('a pod whose default routes are by a network of another plugin', () => {
  const outside = (family: Family): string => {
    const found = planNetwork('dual', 1)
      .outside.addresses.map(hostOf)
      .find((ip) => ipFamily(ip) === family);
    return family === 6 ? `[${found}]` : String(found);
  };
  const routesOf = async (name: string, family: Family): Promise<string[]> => {
    const lines = (await inPod(name, 'ip', `-${family}`, 'route', 'show', 'default')).split('\n');
    return lines.map((line) => / via (\S+) dev (\S+)/.exec(line)?.slice(1).join(' ') ?? line.trim());
  };
  const selection = [{ name: 'greedy' }, { name: 'exit', 'default-route': EXIT_GATEWAYS }, { name: 'greedier' }];

  beforeAll(async () => {
    for (const [i, family] of FAMILIES.entries()) {
      const subnet = ['10.97.0.0/24', 'fd00:97::/64'][i] ?? '';
      await cluster().outside(['ip', `-${family}`, 'route', 'replace', subnet, 'via', nodeAddress(NODE, family)]);
    }
    await applyAndWait(cluster(), [on('leaves', selection)]);
  });

  it.each(FAMILIES)('reaches hosts outside by it, by IPv%d, and has no other default route', async (family) => {
    expect(await routesOf('leaves', family)).toEqual([`${EXIT_GATEWAYS[FAMILIES.indexOf(family)]} net2`]);
    const caller = await inPod('leaves', 'curl', '-sS', '-m', '3', `http://${outside(family)}:8080/clientip`);
    expect(caller).toContain(await addressOf('leaves', 'net2', family));
  });

  it('takes none of routers that advertise themselves there', async () => {
    const settings = ['net1', 'net2', 'net3'].map((name) => `/proc/sys/net/ipv6/conf/${name}/accept_ra_defrtr`);
    expect(await inPod('leaves', 'cat', ...settings)).toBe('0\n0\n0');
  });

  it('reaches pods of its other networks as before', async () => {
    for (const family of FAMILIES) {
      const peer = await addressOf('b', 'eth0', family);
      const host = family === 6 ? `[${peer}]` : peer;
      expect(await inPod('leaves', 'curl', '-sS', '-m', '3', `http://${host}:8080/hostname`)).toBe('b');
    }
  });

  it('has it in its network-status', async () => {
    await eventually(async () => {
      const { annotations = {} } = (await (await cluster().objects()).get('pod', 'plain/leaves')).metadata;
      const networks = parseAttachedNetworks(annotations[POD_ANNOTATIONS.networkStatus] ?? '', 'plain/leaves');
      expect(networks.map(({ interface: device, gateway }) => [device, gateway])).toEqual([
        ['eth0', undefined],
        ['net1', undefined],
        ['net2', EXIT_GATEWAYS],
        ['net3', undefined],
      ]);
      expect(networks.filter((one) => one.default).map((one) => one.interface)).toEqual(['net2']);
      expect(networks[2]?.defaultRoute).toEqual(EXIT_GATEWAYS);
    });
  });

  it('is as CHECK wants it, which asks the plugins for their routes, too', async () => {
    const records = await onNode('sh', '-c', 'grep -l \'"name":"leaves"\' /var/lib/ovn-udn/attachments/*');
    const containerId = /([0-9a-f]+)\.json$/.exec(records)?.[1] ?? '';
    const netns = /"sandbox":"([^"]+)"/.exec(await onNode('cat', records))?.[1] ?? '';
    const call = { command: 'CHECK', containerId, netns, args: podArguments('plain', 'leaves') };
    expect(await callShim(cluster(), NODE, call)).toMatchObject({ status: 0 });
    await inPod('leaves', 'ip', 'route', 'del', 'default');
    const { body } = await callShim(cluster(), NODE, call);
    expect(JSON.stringify(body)).toContain('plain/exit as net2: ');
    await inPod('leaves', 'ip', 'route', 'add', 'default', 'via', EXIT_GATEWAYS[0] ?? '');
    expect(await callShim(cluster(), NODE, call)).toMatchObject({ status: 0 });
  });

  it('keeps its own where a plugin makes one and an interface of ovn-udn has been asked for', async () => {
    const gateway = '10.90.0.200';
    await applyAndWait(cluster(), [on('stays', [{ name: 'flat', 'default-route': [gateway] }, { name: 'greedy' }])]);
    expect(await routesOf('stays', 4)).toEqual([`${gateway} net1`]);
    await deletePods(cluster(), 'plain/stays');
  });

  it('is refused a gateway that is not there', async () => {
    await (await cluster().objects()).apply([on('far', [{ name: 'exit', 'default-route': ['192.0.2.1'] }])]);
    await eventually(async () => {
      const messages = (await eventsOf(cluster(), 'plain', 'far')).map(({ message }) => message);
      expect(messages).toContainEqual(
        expect.stringMatching(/^plain\/exit as net1: default-route: gateway 192\.0\.2\.1 is in no network of net1/),
      );
    });
    await deletePods(cluster(), 'plain/far', 'plain/leaves');
  });
});

it('a plugin that gives a device says so in network-status, as long as the pod is there', async () => {
  const info = { type: 'pci', version: '1.1.0', pci: { 'pci-address': '0000:01:02.2' } };
  const plugin = [
    '#!/bin/sh',
    `file=$(sed -n 's/.*"CNIDeviceInfoFile":"\\([^"]*\\)".*/\\1/p')`,
    '[ "$CNI_COMMAND" = ADD ] || exit 0',
    `echo '${JSON.stringify(info)}' > "$file"`,
    `echo '{"cniVersion":"1.0.0"}'`,
  ].join('\n');
  await cluster().node(NODE, ['sh', '-c', 'cat > /opt/cni/bin/device; chmod +x /opt/cni/bin/device'], {
    input: plugin,
  });
  const capabilities = { CNIDeviceInfoFile: true };
  const plugins = [
    { type: 'device', capabilities },
    { type: 'bridge', bridge: 'device0' },
  ];
  await applyAndWait(cluster(), [
    nad('plain', 'device', { cniVersion: '1.0.0', name: 'device', plugins }),
    on('accelerated', 'device'),
  ]);
  await eventually(async () => {
    const { annotations = {} } = (await (await cluster().objects()).get('pod', 'plain/accelerated')).metadata;
    const networks = parseAttachedNetworks(annotations[POD_ANNOTATIONS.networkStatus] ?? '', 'plain/accelerated');
    expect(networks.map(({ interface: device, deviceInfo }) => [device, deviceInfo])).toEqual([
      ['eth0', undefined],
      ['net1', info],
    ]);
  });
  const files = (): Promise<string> => onNode('ls', '/var/run/k8s.cni.cncf.io/devinfo/cni');
  expect(await files()).toMatch(/^[0-9a-f]+-0\.json$/);
  await deletePods(cluster(), 'plain/accelerated');
  expect(await files()).toBe('');
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

it('a pod to which a plugin gives addresses of another of its networks is refused, says so, and leaves nothing', async () => {
  const ipam = { type: 'host-local', ranges: [[{ subnet: '10.90.0.0/25' }]] };
  const clash = { cniVersion: '1.0.0', name: 'clash', type: 'bridge', bridge: 'clash0', ipam };
  await (await cluster().objects()).apply([nad('plain', 'clash', clash), on('torn', 'flat,clash')]);
  const message =
    /^plain\/clash as net2: 10\.90\.0\.0\/25, which the plugin has given of network clash, overlaps 10\.90\.0\.0\/24 of network /;
  await eventually(async () => {
    const messages = (await eventsOf(cluster(), 'plain', 'torn')).map((event) => event.message);
    expect(messages).toContainEqual(expect.stringMatching(message));
  });
  await deletePods(cluster(), 'plain/torn');
  expect(await made('clash')).toMatchObject({ leases: [], records: 2 });
  expect(await onNode('ip', '-o', 'link', 'show', 'master', 'clash0')).toBe('');
});

it('an agent that is started again takes away what the one before has made', async () => {
  await applyAndWait(cluster(), [on('later', 'lan')]);
  await cluster().kill(NODE, 'agent');
  await deletePods(cluster(), 'plain/later');
  expect(await made('lan')).toMatchObject({ ports: 2, records: 2 });
});
