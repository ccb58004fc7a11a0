/**
 * What keeps packets of networks off the wire when what should translate them is missing: rows of OVN, or flows of the
 * gateway bridge. Needs root and `make build`.
 */
import { beforeAll, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, parseIp } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, pod } from './support/cluster/manifests.ts';
import {
  type Foothold,
  type HostileCluster,
  hostileCluster,
  isTunnelled,
  type NamedFrame,
  NODE,
  namesOf,
  ofFamily,
  sendAndWatch,
} from './support/hostile/attacks.ts';
import { nodeAddress, outside, seenOverHttp } from './support/networks/north-south.ts';
import { type CapturedFrame, capture } from './support/packets/capture.ts';
import { arp, BROADCAST, ipBytes, udp } from './support/packets/frames.ts';

const cluster = useCluster({ name: 'test-anti-spoofing' });
let here: HostileCluster;

beforeAll(async () => {
  here = await hostileCluster(cluster());
  for (const key of ['red/a', 'green/a']) for (const family of FAMILIES) await reachesOutside(key, family);
});

const reachesOutside = (key: string, family: Family): Promise<void> =>
  eventually(async () => expect(await seenOverHttp(cluster(), key, family)).toBe(nodeAddress(NODE, family)), 60_000);

/** The agent of the first node does nothing meanwhile, and puts everything right afterwards. */
const whileStopped = async (work: () => Promise<void>): Promise<void> => {
  await cluster().kill(NODE, 'agent', 'SIGSTOP');
  try {
    await work();
  } finally {
    await cluster().kill(NODE, 'agent', 'SIGCONT');
  }
};

let nextPort = 20_000;

/** From a port that no connection had before. */
const toOutside = (from: Foothold, family: Family): NamedFrame => {
  nextPort += 1;
  const srcPort = nextPort;
  return {
    name: `to outside IPv${family}`,
    device: from.device,
    build: (payload) =>
      udp(
        { from: from.mac, to: from.gatewayMac },
        { src: ofFamily(from.addresses, family), dst: outside(family), srcPort, payload },
      ),
  };
};

const toNeighbour = (from: Foothold, to: Foothold): NamedFrame => ({
  name: 'to neighbour',
  device: from.device,
  build: (payload) =>
    udp({ from: from.mac, to: to.mac }, { src: ofFamily(from.addresses, 4), dst: ofFamily(to.addresses, 4), payload }),
});

const LEAVING = FAMILIES.flatMap((family) =>
  [NODE, 'outside'].map((source) => `to outside IPv${family} @ ${source}`),
).toSorted();

const expectToLeave = async (from: Foothold): Promise<void> => {
  const frames = FAMILIES.map((family) => toOutside(from, family));
  expect(namesOf(await sendAndWatch(cluster(), from.pod, [], frames, here.pods))).toEqual(LEAVING);
};

const expectToStay = async (from: Foothold, neighbour: Foothold): Promise<void> => {
  const frames = FAMILIES.map((family) => toOutside(from, family));
  const seen = await sendAndWatch(cluster(), from.pod, frames, [toNeighbour(from, neighbour)], here.pods);
  expect(namesOf(seen)).toEqual([`to neighbour @ ${neighbour.pod}`]);
};

it.each(['red', 'green'])('nothing of %s leaves untranslated when OVN does not translate', async (tenant) => {
  const from = here.foothold(`${tenant}/a`);
  await expectToLeave(from);
  await whileStopped(async () => {
    await cluster().node(NODE, ['ovn-nbctl', '--wait=hv', 'lr-nat-del', `GR_${tenant}_net_${NODE}`]);
    await expectToStay(from, here.foothold(`${tenant}/b`));
  });
  for (const family of FAMILIES) await reachesOutside(from.pod, family);
  await expectToLeave(from);
});

it.each(['red', 'green'])('nothing of %s leaves while its patch port has no flows', async (tenant) => {
  const from = here.foothold(`${tenant}/a`);
  await expectToLeave(from);
  await whileStopped(async () => {
    const port = `patch-br-ex_${tenant}_net_${NODE}-to-br-int`;
    const number = (await cluster().node(NODE, ['ovs-vsctl', 'get', 'Interface', port, 'ofport'])).stdout.trim();
    await cluster().node(NODE, ['ovs-ofctl', 'del-flows', 'br-ex', `in_port=${number}`]);
    await cluster().node(NODE, ['ovs-ofctl', 'mod-port', 'br-ex', number, 'flood']);
    await expectToStay(from, here.foothold(`${tenant}/b`));
    // The host and the default network go on.
    for (const family of FAMILIES) {
      await cluster().node(NODE, ['ping', '-c', '1', '-W', '2', outside(family)]);
      await reachesOutside('plain/a', family);
    }
    // What keeps it in is one flow.
    await cluster().node(NODE, [
      'ovs-ofctl',
      '--strict',
      'del-flows',
      'br-ex',
      `priority=13,dl_src=${await macAt('br-ex')}`,
    ]);
    const frame = toOutside(from, 4);
    const seen = await sendAndWatch(cluster(), from.pod, [], [frame], here.pods);
    expect(namesOf(seen)).toContain(`to outside IPv4 @ ${NODE}`);
  });
  await eventually(() => expectToLeave(from), 30_000);
});

it('a port that somebody else has put on the bridge goes on, but not as the node', async () => {
  const [mac, nodeMac] = ['02:00:00:00:00:99', await macAt('br-ex')];
  await cluster().node(NODE, [
    'ovs-vsctl',
    'add-port',
    'br-ex',
    'foreign',
    '--',
    'set',
    'Interface',
    'foreign',
    'type=internal',
  ]);
  try {
    await eventually(() => cluster().node(NODE, ['ip', 'link', 'set', 'foreign', 'up']));
    const question = (name: string, from: string, tell: Ip): NamedFrame => ({
      name,
      device: 'foreign',
      build: (payload) =>
        Buffer.concat([arp({ from, to: BROADCAST }, { op: 'request', tell, about: outside(4) }), Buffer.from(payload)]),
    });
    const attack = question('as the node', nodeMac, nodeAddress(NODE, 4));
    const honest = question('as itself', mac, parseIp('172.20.0.99'));
    const seen = await sendAndWatch(cluster(), NODE, [attack], [honest], here.pods);
    expect(namesOf(seen)).toEqual(['as itself @ outside']);
  } finally {
    await cluster().node(NODE, ['ovs-vsctl', 'del-port', 'br-ex', 'foreign']);
  }
});

const macAt = async (device: string): Promise<string> =>
  (await cluster().node(NODE, ['cat', `/sys/class/net/${device}/address`])).stdout.trim();

it('networks that come and go never show a masquerade address on the wire', async () => {
  const names = ['n1', 'n2', 'n3', 'n4'];
  const manifests = names.flatMap((name, index) => [
    namespace(name),
    index % 2 === 0
      ? layer3(name, 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64'])
      : layer2(name, 'net', ['10.82.0.0/16', 'fd00:82::/64']),
    pod(name, 'a', NODE),
  ]);
  const comeAndGo = async (): Promise<void> => {
    await applyAndWait(cluster(), manifests);
    for (const name of names) for (const family of FAMILIES) await reachesOutside(`${name}/a`, family);
    await (await cluster().objects()).delete(manifests, { timeoutSeconds: 60 });
    await eventually(async () => expect(await patchPorts()).not.toMatch(/_n\d_net/), 60_000);
    await reachesOutside('plain/a', 4);
  };
  const frames = await capture(cluster(), [NODE], comeAndGo, (all) => onTheWire(all).length > 0);
  const wire = onTheWire(frames);
  expect(wire.filter(({ bytes }) => bytes.includes('/clientip')).length).toBeGreaterThan(names.length);
  expect(wire.filter(mentionsMasquerade)).toEqual([]);
});

const patchPorts = async (): Promise<string> =>
  (await cluster().node(NODE, ['ovs-vsctl', 'list-ports', 'br-ex'])).stdout;

const onTheWire = (frames: readonly CapturedFrame[]): readonly CapturedFrame[] =>
  frames.filter(({ device, isOutgoing, bytes }) => device === 'eth0' && isOutgoing && !isTunnelled(bytes));

/** Anywhere where a frame of IP, ARP or neighbour discovery has addresses. */
const mentionsMasquerade = ({ bytes }: CapturedFrame): boolean => {
  const [from, to] = ADDRESSES_IN[bytes.readUInt16BE(12)] ?? [0, 0];
  return FAMILIES.some((family) => bytes.subarray(from, to).includes(masqueradePrefix(family)));
};

/** By ethertype. */
const ADDRESSES_IN: Readonly<Record<number, readonly [number, number]>> = {
  2048: [26, 34],
  2054: [28, 42],
  34525: [22, 78],
};

/** The first bytes that all masquerade addresses share. */
const masqueradePrefix = (family: Family): Buffer =>
  ipBytes(parseIp(family === 4 ? '169.254.0.0' : 'fd69::')).subarray(0, family === 4 ? 3 : 15);
