/**
 * A tenant that opens connections without end, and clients outside that do with its node port: there are no more than its
 * network may have, others go on, and operators get an event. Needs root and `make build`. It costs some 20 s.
 */
import { beforeAll, expect, it } from 'vitest';
import { FAMILIES } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { agentMetrics } from './support/cluster/agent-metrics.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace } from './support/cluster/manifests.ts';
import { udnctl } from './support/cluster/udnctl.ts';
import { nodeAddress, outside } from './support/networks/north-south.ts';
import { entryPointsOf, publicService } from './support/services/entry-points.ts';
import { backend } from './support/services/services.ts';

const NODE = 'node-1';
const LIMIT = 300;
const TENANTS = ['red', 'blue'];
const [RED_PORT = 0, BLUE_PORT = 0] = TENANTS.map((_, index) => entryPointsOf(index).nodePort);
const cluster = useCluster({
  ...{ name: 'test-connections', nodes: 1 },
  settings: { UDN_CONNECTIONS_PER_NETWORK: String(LIMIT) },
});

beforeAll(async () => {
  await applyAndWait(
    cluster(),
    TENANTS.flatMap((tenant) => [
      namespace(tenant),
      layer3(tenant, 'net', ['10.78.0.0/16/24', 'fd00:78::/48/64']),
      backend(tenant, 'a', NODE, 'web'),
      publicService(tenant, 'web', 'web', { ...entryPointsOf(TENANTS.indexOf(tenant)), externalIps: [] }),
    ]),
  );
  // What begins before there is a limit does not count.
  await eventually(async () => expect(await unlimitedZones()).toEqual([]));
});

/** A datagram from each of so many ports. */
const FLOOD = `
import socket, sys
to = sys.argv[1]
for port in range(20000, 20000 + int(sys.argv[2])):
    with socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(('', port))
        s.sendto(b'hostname', (to, int(sys.argv[3])))
`;

/** From one port to one address and port. Prints the answer. */
const ASK = `
import socket, sys
own, to, port, patience = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
with socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.bind(('', own))
    s.settimeout(patience)
    s.sendto(b'hostname', (to, port))
    try: print(s.recvfrom(100)[0].decode().strip())
    except OSError: print('nothing')
`;

/** Connections of the datapath in which an end has this port. */
const withPort = async (port: number): Promise<number> => {
  const { stdout } = await cluster().node(NODE, ['ovs-appctl', 'dpctl/dump-conntrack']);
  return stdout.split('\n').filter((line) => line.includes(`port=${port},`)).length;
};

/** How many connections of a network leave the node: by its mark, in the zone of the gateway bridge. */
const leaving = async (mark: number): Promise<number> => {
  const { stdout } = await cluster().node(NODE, ['ovs-appctl', 'dpctl/dump-conntrack', 'zone=64000']);
  return stdout.split('\n').filter((line) => line.includes(`mark=${mark}`)).length;
};

it.each([4, 6] as const)('keeps a tenant to its connections over IPv%s, and others go on', async (family) => {
  const { outside } = await cluster().status();
  const to = outside.find((address) => address.includes(':') === (family === 6))?.split('/')[0] ?? '';
  const ask = (tenant: string) =>
    cluster().exec(`${tenant}/a`, ['curl', '-sf', '-m', '3', `http://${family === 6 ? `[${to}]` : to}:8080/hostname`]);
  await cluster().node(NODE, ['ovs-appctl', 'dpctl/flush-conntrack']);
  await eventually(() => ask('red'));
  // A busy datapath loses what it has no flow for yet: a flood need not fill the table.
  await eventually(async () => {
    await cluster().exec('red/a', ['python3', '-c', FLOOD, to, '1000', '8081']);
    await expect(ask('red')).rejects.toThrow();
  });
  const count = await leaving(4);
  expect(count).toBeGreaterThan(LIMIT / 2);
  expect(count).toBeLessThanOrEqual(LIMIT);
  for (let round = 0; round < 5; round += 1) await ask('blue');
});

it('every zone of a tenant has its limit, also when others come and go, and then all daemons are done', async () => {
  const objects = await cluster().objects();
  const guest = (index: number) => [namespace(`guest-${index}`), layer3(`guest-${index}`, 'net', ['10.79.0.0/16/24'])];
  await applyAndWait(cluster(), guest(0));
  await eventually(async () => expect((await zonesByName()).has('k8s-guest.0_net_node-1')).toBe(true));
  await cluster().kill(NODE, 'ovn-controller', 'SIGSTOP');
  // It hears of both at once, and gives the zones of the one to the other.
  await objects.delete(guest(0).toReversed());
  await applyAndWait(cluster(), guest(1));
  await eventually(async () => expect(await routers()).toEqual(['GR_guest.1_net_node-1']));
  await cluster().kill(NODE, 'ovn-controller', 'SIGCONT');
  await eventually(async () => expect((await zonesByName()).has('k8s-guest.1_net_node-1')).toBe(true));
  await eventually(async () => expect(await changesOfZones()).toEqual([]), 30_000);
  // Of each network those of its routers and its switch, two each, and that of its management port; and of two pods.
  expect(await limitedZones()).toHaveLength(3 * 7 + 2);
  expect(await unlimitedZones()).toEqual([]);
});

const LIMITED =
  /^(?:(?:GR_)?(?:red|blue|guest\.1)_net_(?:ovn_cluster_router|node-1)_[sd]nat|k8s-(?:red|blue|guest).*|(?:red|blue)\.net_.*_a)$/;

const limitedZones = async () => [...(await zonesByName())].filter(([name]) => LIMITED.test(name));

const unlimitedZones = async () => {
  const limits = await zoneLimits();
  return (await limitedZones()).filter(([, zone]) => limits.get(zone) !== LIMIT);
};

/** What is written of limits while nothing happens: ovn-controller and ovs-vswitchd once used a processor each for it. */
const changesOfZones = async (): Promise<string[]> => {
  const watch =
    'timeout 2 ovsdb-client monitor --format=json unix:/run/openvswitch/db.sock Open_vSwitch CT_Zone || true';
  const { stdout } = await cluster().node(NODE, ['sh', '-c', watch]);
  // The first line is what is there.
  return stdout.trim().split('\n').slice(1);
};

const routers = async (): Promise<string[]> => {
  const list = ['ovn-nbctl', '--bare', '--columns=name', 'find', 'Logical_Router'];
  const { stdout } = await cluster().node(NODE, list);
  return stdout.split('\n').filter((name) => name.startsWith('GR_guest'));
};

const zonesByName = async (): Promise<ReadonlyMap<string, number>> => {
  const { stdout } = await cluster().node(NODE, ['ovn-appctl', '-t', 'ovn-controller', 'ct-zone-list']);
  return new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]),
  );
};

const zoneLimits = async (): Promise<ReadonlyMap<number, number>> => {
  const { stdout } = await cluster().node(NODE, ['ovs-appctl', 'dpctl/ct-get-limits']);
  return new Map(
    [...stdout.matchAll(/zone=(\d+),limit=(\d+)/g)].map(([, zone, limit]) => [Number(zone), Number(limit)]),
  );
};

it('is reported, with the network, the number and the limit', async () => {
  await eventually(async () => {
    expect(await agentMetrics(cluster(), NODE)).toMatch(
      /^udn_agent_network_connections_ratio\{network="red_net"\} 1$/m,
    );
  }, 40_000);
  const { stdout } = await udnctl(cluster(), NODE, 'problems', '--all');
  expect(stdout).toContain('network red_net has 300 of the 300 connections');
  const events = await (await cluster().objects()).list('events');
  expect(JSON.stringify(events)).toContain('ConnectionLimitNear');
});

it.each(FAMILIES)(
  'clients of its node port have no more over IPv%s, and in no zone that others share',
  async (family) => {
    const to = nodeAddress(NODE, family);
    await cluster().node(NODE, ['ovs-appctl', 'dpctl/flush-conntrack']);
    const ask = (own: number, port: number) =>
      cluster().outside(['python3', '-c', ASK, String(own), to, String(port), '2']);
    await eventually(async () => expect((await ask(19_000, RED_PORT)).stdout.trim()).toBe('a'));
    await cluster().outside(['python3', '-c', FLOOD, to, '1000', String(RED_PORT)]);
    const inZone = async (zone: number) =>
      (await cluster().node(NODE, ['ovs-appctl', 'dpctl/dump-conntrack', `zone=${zone}`])).stdout
        .split('\n')
        .filter((line) => line.includes(`port=${RED_PORT},`)).length;
    const answered = await inZone(64_000);
    expect(answered).toBeGreaterThan(LIMIT / 4);
    expect(answered).toBeLessThanOrEqual(LIMIT);
    // In zones of the network: of its router, its switch, its pod.
    expect(await withPort(RED_PORT)).toBeLessThanOrEqual(4 * LIMIT);
    for (let own = 19_100; own < 19_105; own += 1) expect((await ask(own, BLUE_PORT)).stdout.trim()).toBe('a');
  },
);

it.each(FAMILIES)(
  'no pod takes for answers what clients outside send to the node’s ports over IPv%s',
  async (family) => {
    const [CLIENT, KUBELET] = [19_500, 10_250];
    const [client, node] = [outside(family), nodeAddress(NODE, family)];
    await cluster().node(NODE, ['ovs-appctl', 'dpctl/flush-conntrack']);
    for (const own of [BLUE_PORT, KUBELET]) {
      await cluster().exec('red/a', ['python3', '-c', ASK, String(own), client, String(CLIENT), '0']);
    }
    const { stdout } = await cluster().node(NODE, ['ovs-appctl', 'dpctl/dump-conntrack', 'zone=64000']);
    const taken = stdout.split('\n').filter((line) => line.includes(`port=${CLIENT},`));
    expect(taken).toHaveLength(2);
    for (const line of taken) expect(line).toMatch(/reply=\([^)]*dport=(3276[89]|327[789]|32[89]|3[3-9]|[4-6])/);
    const { stdout: answer } = await cluster().outside([
      'python3',
      '-c',
      ASK,
      String(CLIENT),
      node,
      String(BLUE_PORT),
      '2',
    ]);
    expect(answer.trim()).toBe('a');
  },
);
