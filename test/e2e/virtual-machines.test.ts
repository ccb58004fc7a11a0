/**
 * Virtual machines of KubeVirt: they ask for the addresses that their pods were given, and keep them, and those who talk to them, when they
 * move to another node. Stand-ins for virt-launcher: pods with its labels, each with the machine's addresses and MAC. Needs root and
 * `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, ipFamily, ipToBytes, parseIp } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { clusterLocalnet, ipamClaim, layer2, namespace, pod, secondaryLayer2 } from './support/cluster/manifests.ts';
import { type NamedFrame, namesOf, ofFamily, sendAndWatch } from './support/hostile/attacks.ts';
import { askDhcp } from './support/machines/dhcp.ts';
import { launcher, moveTo } from './support/machines/machine.ts';
import { pings } from './support/networks/north-south.ts';
import { capture } from './support/packets/capture.ts';
import { ALL_NODES, BROADCAST, multicastMac, udp } from './support/packets/frames.ts';
import { type PingLoss, pingsWhile } from './support/packets/pings.ts';
import { DENY_ALL, withPolicies } from './support/policies/with-policies.ts';
import { expectNoDifference } from './support/state/no-difference.ts';

const cluster = useCluster({ name: 'test-machines', ipFamily: 'dual' });

const [HERE, THERE] = ['node-1', 'node-2'] as const;
/** Each with the machine's claim of addresses; those of its primary network it has by KubeVirt's annotation. */
const NETWORKS = JSON.stringify(['flat', 'lan'].map((name) => ({ name, 'ipam-claim-reference': `vm-${name}` })));
const PERSISTENT = { ipam: { lifecycle: 'Persistent' } } as const;
const DEVICES = { red_net: 'ovn-udn1', red_flat: 'net1' } as const;
const NAMES = ['red_net', 'red_flat'] as const;

/** A host of the localnet's VLAN: a port of the other node's br-ex. */
const HOST = { port: 'host150', vlan: 150, addresses: ['10.150.0.250/24', 'fd00:150::fa/64'] } as const;

const makeHost = async (): Promise<void> => {
  const { port, vlan, addresses } = HOST;
  const add = ['add-port', 'br-ex', port, `tag=${vlan}`, '--', 'set', 'Interface', port, 'type=internal'];
  await cluster().node(THERE, ['ovs-vsctl', ...add]);
  await cluster().node(THERE, ['ip', 'link', 'set', port, 'up']);
  for (const address of addresses) {
    const nodad = address.includes(':') ? ['nodad'] : [];
    await cluster().node(THERE, ['ip', 'addr', 'add', address, 'dev', port, ...nodad]);
  }
};

beforeAll(async () => {
  await makeHost();
  await applyAndWait(cluster(), [
    namespace('red', { team: 'red' }),
    layer2('red', 'net', ['10.84.0.0/16', 'fd00:84::/64']),
    secondaryLayer2('red', 'flat', ['10.94.0.0/24', 'fd00:94::/64'], PERSISTENT),
    ipamClaim('red', 'vm-flat', 'red_flat'),
    ipamClaim('red', 'vm-lan', 'cluster_udn_lan'),
    clusterLocalnet(
      'lan',
      'red',
      {
        ...PERSISTENT,
        physicalNetworkName: 'physnet',
        subnets: ['10.150.0.0/24', 'fd00:150::/64'],
        excludeSubnets: ['10.150.0.250/32', 'fd00:150::fa/128'],
      },
      HOST.vlan,
    ),
    launcher('red', 'from', HERE, { machine: 'vm', networks: NETWORKS }),
    pod('red', 'near', HERE, { 'k8s.v1.cni.cncf.io/networks': 'flat' }),
    pod('red', 'far', THERE, { 'k8s.v1.cni.cncf.io/networks': 'flat' }),
  ]);
});

const addressesOn = async (key: string, network: string): Promise<readonly Ip[]> => {
  const { attachments } = await readPod(cluster(), key);
  const found = attachments.find((one) => one.network.endsWith(network));
  if (found === undefined) throw new Error(`${key} is not on ${network}`);
  return found.addresses;
};

const hex = (text: string): string => Buffer.from(text).toString('hex');

describe('a machine asks for its addresses', () => {
  it.each(NAMES)('on %s and gets those of its pod, of both families', async (network) => {
    const addresses = await addressesOn('red/from', network);
    const [four, six] = await Promise.all(
      FAMILIES.map((family) => askDhcp(cluster(), 'red/from', DEVICES[network], family)),
    );
    const own = (family: Family) => addresses.find((ip) => ipFamily(ip) === family);
    expect([four?.address, six?.address]).toEqual([own(4), own(6)]);
    // RFC 2132: the host name, the MTU, how long, and whose answer it is.
    expect(four?.options).toMatchObject({ 12: hex('vm'), 51: '00000dac', 54: 'a9fe0101' });
    expect(Number.parseInt(four?.options[26] ?? '', 16)).toBeGreaterThan(1200);
    expect(four?.options[3]).toBe(network === 'red_net' ? '0a540001' : undefined);
    // RFC 4704, section 4: flag N, as the server updates no DNS, and the name in labels.
    expect(six?.options[39]).toBe(`0402${hex('vm')}00`);
  });

  it('under policies that forbid all, too', async () => {
    const policy = {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec: DENY_ALL },
      metadata: { name: 'deny', namespace: 'red' },
    };
    const [near] = await addressesOn('red/near', 'red_net');
    await withPolicies(cluster(), [policy], async () => {
      await eventually(async () => expect(await pings(cluster(), 'red/from', near ?? parseIp('::'))).toBe(false));
      for (const family of FAMILIES) expect(await askDhcp(cluster(), 'red/from', 'ovn-udn1', family)).toBeDefined();
    });
    await eventually(async () => expect(await pings(cluster(), 'red/from', near ?? parseIp('::'))).toBe(true));
  });

  it('and nobody answers a pod that is none', async () => {
    for (const family of FAMILIES) expect(await askDhcp(cluster(), 'red/near', 'ovn-udn1', family)).toBeUndefined();
  });
});

/** On one of its networks, by whose device it sends. */
interface Neighbour {
  readonly network: (typeof NAMES)[number];
  readonly device: string;
  readonly mac: string;
  readonly four: Ip;
  readonly six: Ip;
}

const neighbourOn = async (key: string, network: Neighbour['network']): Promise<Neighbour> => {
  const device = DEVICES[network];
  const mac = (await cluster().exec(key, ['cat', `/sys/class/net/${device}/address`])).stdout.trim();
  const addresses = await addressesOn(key, network);
  return { network, device, mac, four: ofFamily(addresses, 4), six: ofFamily(addresses, 6) };
};

const neighboursOn = (key: string): Promise<Neighbour[]> => Promise.all(NAMES.map((name) => neighbourOn(key, name)));

const ALL_HOSTS = parseIp('255.255.255.255');

/** Datagrams of one to another, to all on the link, and back out of the same ports to one that is none of DHCP. */
const datagrams = (
  what: string,
  from: Neighbour,
  to: Neighbour,
  ports: { readonly src: Record<Family, number>; readonly dst: Record<Family, number> },
): NamedFrame[] => {
  const send = (how: string, family: Family, mac: string, dst: Ip): NamedFrame => ({
    name: `${what} of IPv${family} to ${how} on ${from.network}`,
    device: from.device,
    build: (payload) =>
      udp(
        { from: from.mac, to: mac },
        {
          ...{ src: family === 4 ? from.four : from.six, dst, payload },
          ...{ srcPort: ports.src[family], dstPort: ports.dst[family] },
        },
      ),
  });
  return [
    send('one', 4, to.mac, to.four),
    send('one', 6, to.mac, to.six),
    send('all', 4, BROADCAST, ALL_HOSTS),
    send('all', 6, multicastMac(ALL_NODES), ALL_NODES),
  ];
};

const SERVER_PORTS = { 4: 67, 6: 547 } as const;
const CLIENT_PORTS = { 4: 68, 6: 546 } as const;
const OTHER_PORTS = { 4: 8081, 6: 8081 } as const;

describe('between a machine and pods that would be its DHCP servers', () => {
  /** What comes to the receivers but the honest ones, which have to come to `to`. */
  const arriving = async (
    from: string,
    to: string,
    frames: (a: Neighbour, b: Neighbour) => { readonly attacks: NamedFrame[]; readonly honest: NamedFrame[] },
  ): Promise<readonly string[]> => {
    const [senders, receivers] = [await neighboursOn(from), await neighboursOn(to)];
    const all = senders.map((sender, index) => frames(sender, receivers[index] ?? sender));
    const [attacks, honest] = [all.flatMap((one) => one.attacks), all.flatMap((one) => one.honest)];
    const pods = ['red/from', 'red/near', 'red/far'].filter((key) => key !== from);
    const seen = namesOf(await sendAndWatch(cluster(), from, attacks, honest, pods));
    expect(seen).toEqual(expect.arrayContaining(honest.map(({ name }) => `${name} @ ${to}`)));
    return seen.filter((name) => !honest.some((one) => name.startsWith(one.name)));
  };

  it.each(['red/near', 'red/far'])('no answer of %s is heard, whatever port it is from', async (server) => {
    const seen = await arriving(server, 'red/from', (pod, machine) => ({
      attacks: [
        ...datagrams('answer', pod, machine, { src: SERVER_PORTS, dst: CLIENT_PORTS }),
        ...datagrams('answer from elsewhere', pod, machine, { src: { 4: 1067, 6: 1547 }, dst: CLIENT_PORTS }),
      ],
      honest: datagrams('honest', pod, machine, { src: SERVER_PORTS, dst: OTHER_PORTS }),
    }));
    expect(seen).toEqual([]);
  });

  it.each(['red/near', 'red/far'])('no question of the machine is heard by %s', async (server) => {
    const seen = await arriving('red/from', server, (machine, pod) => ({
      attacks: datagrams('question', machine, pod, { src: CLIENT_PORTS, dst: SERVER_PORTS }),
      honest: datagrams('honest', machine, pod, { src: CLIENT_PORTS, dst: OTHER_PORTS }),
    }));
    expect(seen).toEqual([]);
  });
});

const url = (ip: Ip): string => `http://${ipFamily(ip) === 6 ? `[${ip}]` : ip}:8080/hostname`;

type Askers = 'all' | 'pods';

/** The pods that clients on both nodes, and with `all` the host of the localnet, find the machine in, by each of its addresses. */
const whereItIs = async (askers: Askers): Promise<readonly string[]> => {
  const curl = (ip: Ip) => ['curl', '-sg', '--max-time', '1', url(ip)];
  const addresses = (await Promise.all(NAMES.map((name) => addressesOn('red/from', name)))).flat();
  const onLan = await addressesOn('red/from', '_lan');
  const asked = [
    ...['red/near', 'red/far'].flatMap((client) => addresses.map((ip) => cluster().exec(client, curl(ip)))),
    ...(askers === 'all' ? onLan.map((ip) => cluster().node(THERE, curl(ip))) : []),
  ];
  const answers = await Promise.allSettled(asked);
  return [...new Set(answers.map((one) => (one.status === 'fulfilled' ? one.value.stdout.trim() : 'nowhere')))];
};

const isIn = (name: string, askers: Askers = 'all'): Promise<void> =>
  eventually(async () => expect(await whereItIs(askers)).toEqual([name]), 60_000);

/** Gratuitous ARP (RFC 5227, section 3): the sender's address is the one that is asked for. */
const announces = (frame: Buffer, address: Ip): boolean => {
  const own = Buffer.from(ipToBytes(address));
  return frame.readUInt16BE(12) === 0x0806 && frame.subarray(28, 32).equals(own) && frame.subarray(38, 42).equals(own);
};

const longest = (losses: readonly PingLoss[]): number => Math.max(...losses.map(({ lost }) => lost));

describe('a machine moves', () => {
  it('to a target that has its addresses, and hears and says nothing before it runs there', async () => {
    await isIn('from');
    await applyAndWait(cluster(), [launcher('red', 'to', THERE, { machine: 'vm', networks: NETWORKS })]);
    for (const network of [...NAMES, '_lan']) {
      expect(await addressesOn('red/to', network)).toEqual(await addressesOn('red/from', network));
    }
    await isIn('from');
    const { stdout } = await cluster().node(THERE, ['udnctl', 'explain', 'pod', 'red/to']);
    expect(stdout.match(/is closed: the virtual machine runs in pod red\/from/g)).toHaveLength(3);
    expect(stdout).not.toContain('MISSING');
    const peers = (await Promise.all(NAMES.map((network) => addressesOn('red/far', network)))).flat();
    for (const peer of [...peers, ...HOST.addresses.map((one) => parseIp(one.split('/')[0] ?? ''))]) {
      expect(await pings(cluster(), 'red/to', peer)).toBe(false);
      expect(await pings(cluster(), 'red/from', peer)).toBe(true);
    }
  });

  it('and those who talk to it go on', async () => {
    const to = (await Promise.all(NAMES.map((name) => addressesOn('red/from', name)))).flat();
    const flows = ['red/near', 'red/far'].map((from) => ({ from, to }));
    const losses = await pingsWhile(cluster(), flows, async () => {
      await moveTo(cluster(), 'red/to');
      await isIn('to');
    });
    // At one each 50 ms: none on a quiet machine, and no second of a busy one.
    expect(longest(losses), JSON.stringify(losses)).toBeLessThan(20);
    const [peer = parseIp('::')] = await addressesOn('red/near', 'red_net');
    expect(await pings(cluster(), 'red/from', peer)).toBe(false);
    expect(await pings(cluster(), 'red/to', peer)).toBe(true);
  });

  it('back when the target is lost, and on to another one, and is there when the source has gone', async () => {
    await deletePods(cluster(), 'red/to');
    // ovn-controller announces a port on a localnet once: the physical network learns where it is when the machine sends something.
    await isIn('from', 'pods');
    await applyAndWait(cluster(), [launcher('red', 'next', THERE, { machine: 'vm', networks: NETWORKS })]);
    await isIn('from', 'pods');
    const addresses = await addressesOn('red/from', 'red_net');
    // Nothing is remembered of a move: agents that start in the middle of it decide alike.
    await Promise.all([HERE, THERE].map((node) => cluster().kill(node, 'agent', 'SIGKILL')));
    const [onLan = parseIp('::')] = await addressesOn('red/next', '_lan');
    await capture(
      cluster(),
      [THERE],
      () => moveTo(cluster(), 'red/next'),
      (frames) => frames.some((frame) => frame.device === HOST.port && announces(frame.bytes, onLan)),
    );
    await isIn('next');
    await deletePods(cluster(), 'red/from');
    expect(await addressesOn('red/next', 'red_net')).toEqual(addresses);
    for (const client of ['red/near', 'red/far']) {
      for (const address of addresses) expect(await pings(cluster(), client, address)).toBe(true);
    }
    await expectNoDifference(cluster(), [HERE, THERE]);
  });

  it('or stops, and starts elsewhere with what it has claims of, which nobody gets meanwhile', async () => {
    const before = await Promise.all(['red_flat', '_lan'].map((network) => addressesOn('red/next', network)));
    await deletePods(cluster(), 'red/next');
    const selection = { 'k8s.v1.cni.cncf.io/networks': 'flat,lan' };
    await applyAndWait(cluster(), [pod('red', 'stranger', THERE, selection)]);
    await applyAndWait(cluster(), [launcher('red', 'again', HERE, { machine: 'vm', networks: NETWORKS })]);
    const after = await Promise.all(['red_flat', '_lan'].map((network) => addressesOn('red/again', network)));
    expect(after).toEqual(before);
    expect(await addressesOn('red/stranger', 'red_flat')).not.toEqual(before[0]);
    for (const address of before[0] ?? []) {
      await eventually(async () => expect(await pings(cluster(), 'red/far', address)).toBe(true));
    }
  });
});
