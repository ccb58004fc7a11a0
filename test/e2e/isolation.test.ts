/** Packets that must not get through, from pods that try. Needs root and `make build`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { PROTOCOLS, type ReachabilityPod } from '../oracles/reachability/types.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { networkNamed } from './support/cluster/udnctl.ts';
import { forgeAddress, forgeMac, type Route } from './support/hostile/forgery.ts';
import {
  addressesOf,
  addressOfFamily,
  arrivals,
  describePacket,
  type Packet,
  packetsTo,
} from './support/packets/packets.ts';

const NODES = ['node-1', 'node-2'] as const;
const cluster = useCluster({ name: 'test-isolation' });

/** One pod of each network on each node: `red/node-1` and so on. */
const MANIFESTS = [
  namespace('red'),
  layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
  namespace('green'),
  layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
  plainNamespace('plain'),
  ...['red', 'green', 'plain'].flatMap((name) => NODES.map((node) => pod(name, `${name}-${node}`, node))),
];

const pods = new Map<string, ReachabilityPod>();
const podOf = (network: string, node: string): ReachabilityPod => {
  const found = pods.get(`${network}/${network}-${node}`);
  if (found === undefined) throw new Error(`there is no pod of ${network} on ${node}`);
  return found;
};

beforeAll(async () => {
  await applyAndWait(cluster(), MANIFESTS);
  for (const network of ['red', 'green', 'plain']) {
    for (const node of NODES) {
      const found = await readPod(cluster(), `${network}/${network}-${node}`);
      pods.set(found.key, found);
    }
  }
});

const packetsOf = (from: ReachabilityPod, to: ReachabilityPod, family: Family): Packet[] =>
  packetsTo(from, to).filter(({ address }) => ipFamily(address) === family);

describe.each([
  { network: 'plain', device: 'eth0', forged: { 4: '10.128.0.77', 6: 'fd00:10:128::77' } },
  { network: 'red', device: 'ovn-udn1', forged: { 4: '10.60.0.77', 6: 'fd00:60::77' } },
  { network: 'green', device: 'ovn-udn1', forged: { 4: '10.61.0.77', 6: 'fd00:61::77' } },
])('a pod of $network that forges', ({ network, device, forged }) => {
  const setUp = (family: Family): { route: Route; packets: readonly Packet[] } => {
    const from = podOf(network, 'node-1');
    const to = podOf(network, 'node-2');
    return { route: { pod: from.key, device, to: addressOfFamily(to, family) }, packets: packetsOf(from, to, family) };
  };

  it.each(FAMILIES)('an IPv%s address gets nothing through', async (family) => {
    const { route, packets } = setUp(family);
    const all = packets.map(describePacket);
    expect(await arrivals(cluster(), packets)).toEqual(all);
    const undo = await forgeAddress(cluster(), route, parseIp(forged[family]));
    try {
      expect(await arrivals(cluster(), packets)).toEqual([]);
    } finally {
      await undo();
    }
    expect(await arrivals(cluster(), packets)).toEqual(all);
  });

  it.each(FAMILIES)('a MAC address gets nothing through, IPv%s', async (family) => {
    const { route, packets } = setUp(family);
    const all = packets.map(describePacket);
    expect(await arrivals(cluster(), packets)).toEqual(all);
    const undo = await forgeMac(cluster(), route, '0a:58:0a:3c:4d:4d');
    try {
      expect(await arrivals(cluster(), packets)).toEqual([]);
    } finally {
      await undo();
    }
    await eventually(async () => expect(await arrivals(cluster(), packets)).toEqual(all));
  });

  it.each(FAMILIES)('an IPv%s address gets through where port security is missing', async (family) => {
    const { route, packets } = setUp(family);
    // Of TCP the request comes after an answer, which goes to whoever has the address.
    const oneWay = packets.filter(({ protocol }) => protocol !== 'tcp');
    expect(await arrivals(cluster(), oneWay)).toHaveLength(oneWay.length);
    const undo = await forgeAddress(cluster(), route, parseIp(forged[family]));
    try {
      await whileStopped(async () => {
        await clearPortSecurity(cluster(), route.pod);
        expect(await arrivals(cluster(), oneWay)).toEqual(oneWay.map(describePacket));
      });
      // The agent brings it back.
      await eventually(async () => expect(await arrivals(cluster(), oneWay)).toEqual([]));
    } finally {
      await undo();
    }
  });
});

/** The agent of node-1 does nothing meanwhile. */
const whileStopped = async (work: () => Promise<void>): Promise<void> => {
  await cluster().kill('node-1', 'agent', 'SIGSTOP');
  try {
    await work();
  } finally {
    await cluster().kill('node-1', 'agent', 'SIGCONT');
  }
};

/** Of all ports of the pod. */
const clearPortSecurity = async (sandbox: Sandbox, key: string): Promise<void> => {
  const [inNamespace, name] = key.split('/');
  const find = ['ovn-nbctl', '--bare', '--columns=name', 'find', 'Logical_Switch_Port'];
  const { stdout } = await sandbox.node('node-1', [...find, `external_ids:namespace=${inNamespace}`]);
  const ports = stdout.split('\n').filter((port) => port.endsWith(`_${name}`));
  expect(ports.length).toBeGreaterThan(0);
  for (const port of ports) await sandbox.node('node-1', ['ovn-nbctl', '--wait=hv', 'lsp-set-port-security', port]);
};

describe('the locked interface of a pod with a primary network', () => {
  const DEFAULT = 'eth0';
  /** Of pods with a locked interface: that one; of others their only one. */
  const onDefault = (from: ReachabilityPod, to: ReachabilityPod): Packet[] =>
    packetsTo(from, to, to.attachments.length > 1 ? 'infrastructure-locked' : 'primary', DEFAULT);

  it('is what pods of the default network use: there packets pass', async () => {
    const packets = onDefault(podOf('plain', 'node-1'), podOf('plain', 'node-2'));
    expect(packets).toHaveLength(FAMILIES.length * PROTOCOLS.length);
    expect(await arrivals(cluster(), packets)).toEqual(packets.map(describePacket));
  });

  it('lets nothing out and nothing in, on one node and between nodes', async () => {
    const all = [...pods.values()];
    const packets = all.flatMap((from) =>
      all
        .filter((to) => to !== from && from.attachments.length + to.attachments.length > 2)
        .flatMap((to) => onDefault(from, to)),
    );
    expect(packets).toHaveLength((6 * 5 - 2) * FAMILIES.length * PROTOCOLS.length);
    expect(await arrivals(cluster(), packets)).toEqual([]);
  });

  it('lets nothing through either when the sender knows the MAC address of the other', async () => {
    const pairs: (readonly [ReachabilityPod, ReachabilityPod])[] = [
      [podOf('red', 'node-1'), podOf('green', 'node-1')],
      [podOf('red', 'node-1'), podOf('plain', 'node-1')],
      [podOf('plain', 'node-1'), podOf('red', 'node-1')],
    ];
    for (const [from, to] of pairs) await knowEachOther(from, to);
    expect(
      await arrivals(
        cluster(),
        pairs.flatMap(([from, to]) => onDefault(from, to)),
      ),
    ).toEqual([]);
  });

  const knowEachOther = async (from: ReachabilityPod, to: ReachabilityPod): Promise<void> => {
    const { stdout } = await cluster().exec(to.key, ['cat', `/sys/class/net/${DEFAULT}/address`]);
    const role = to.attachments.length > 1 ? 'infrastructure-locked' : 'primary';
    for (const address of addressesOf(to, role)) {
      const neighbour = [address, 'lladdr', stdout.trim(), 'dev', DEFAULT, 'nud', 'permanent'];
      await cluster().exec(from.key, ['ip', 'neigh', 'replace', ...neighbour]);
    }
  };
});

describe.each(['red', 'green'])('packets of %s between nodes', (network) => {
  const MTU = 1400;
  const UNDERLAY_MTU = 1500;
  /** An IP header and that of ICMP. */
  const HEADERS: Readonly<Record<Family, number>> = { 4: 28, 6: 48 };

  /** It ends when all have answered; what must not arrive is waited for a second, what must for longer: the first one asks for the neighbour. */
  const ping = async (
    from: ReachabilityPod,
    to: Ip,
    size: number,
    fragments: 'do' | 'dont',
    seconds = 5,
  ): Promise<string> => {
    const payload = String(size - HEADERS[ipFamily(to)]);
    const argv = ['ping', '-c', '3', '-i', '0.05', '-W', String(seconds), '-M', fragments, '-s', payload, to];
    return await cluster()
      .exec(from.key, argv)
      .then(
        ({ stdout }) => /\d+ received/.exec(stdout)?.[0] ?? stdout,
        (error: unknown) => String((error as { stdout?: string }).stdout ?? error),
      );
  };

  it('have the MTU that the network says', async () => {
    const { stdout } = await cluster().exec(podOf(network, 'node-1').key, ['cat', '/sys/class/net/ovn-udn1/mtu']);
    expect(Number(stdout)).toBe(MTU);
    expect((await networkNamed(cluster(), 'node-1', `${network}_net`)).mtu).toBe(MTU);
  });

  it.each(FAMILIES)('pass at full size without fragments, IPv%s', async (family) => {
    const to = addressOfFamily(podOf(network, 'node-2'), family);
    expect(await ping(podOf(network, 'node-1'), to, MTU, 'do')).toBe('3 received');
  });

  it.each(FAMILIES)('are refused where they are larger and may not be split, IPv%s', async (family) => {
    const to = addressOfFamily(podOf(network, 'node-2'), family);
    expect(await ping(podOf(network, 'node-1'), to, MTU + 1, 'do', 1)).toMatch(/ 0 received/);
  });

  it.each(FAMILIES)('do not pass either from a pod that gives itself a larger MTU, IPv%s', async (family) => {
    const from = podOf(network, 'node-1');
    const to = addressOfFamily(podOf(network, 'node-2'), family);
    const resize = (mtu: number): Promise<unknown> =>
      cluster().exec(from.key, ['ip', 'link', 'set', 'ovn-udn1', 'mtu', String(mtu)]);
    await resize(UNDERLAY_MTU);
    try {
      for (const size of [MTU + 1, UNDERLAY_MTU]) expect(await ping(from, to, size, 'do', 1)).toMatch(/ 0 received/);
    } finally {
      await resize(MTU);
    }
    expect(await ping(from, to, MTU, 'do')).toBe('3 received');
  });

  it.each(FAMILIES)('pass in fragments, IPv%s', async (family) => {
    const to = addressOfFamily(podOf(network, 'node-2'), family);
    expect(await ping(podOf(network, 'node-1'), to, 3 * MTU, 'dont')).toBe('3 received');
  });
});
