/**
 * Pods on several networks: what reaches them by each of their interfaces, what does not, and what is left when ADD fails, the agent is
 * killed, or they go. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { PROTOCOLS } from '../oracles/reachability/types.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import {
  layer2,
  layer3,
  namespace,
  plainNamespace,
  pod,
  secondaryLayer2,
  secondaryLayer3,
} from './support/cluster/manifests.ts';
import { udnctl } from './support/cluster/udnctl.ts';
import { eventsOf } from './support/faults/events.ts';
import { type NamedFrame, namesOf, sendAndWatch } from './support/hostile/attacks.ts';
import { installMultiPolicies, multiPolicy, onlyArrive } from './support/networks/multi-policies.ts';
import { outside } from './support/networks/north-south.ts';
import { arp, BROADCAST, udp } from './support/packets/frames.ts';
import { addressesOf, arrivals, describePacket, type Packet } from './support/packets/packets.ts';
import { withPolicies } from './support/policies/with-policies.ts';
import { expectNoDifference } from './support/state/no-difference.ts';
import { ownRowsNaming } from './support/state/rows.ts';

const cluster = useCluster({ name: 'test-attachments', ipFamily: 'dual' });

const on = (inNamespace: string, name: string, node: string, networks: string): ManifestObject =>
  pod(inNamespace, name, node, { [POD_ANNOTATIONS.selection]: networks });

const FLAT = ['10.90.0.0/24', 'fd00:90::/64'];
const DEVICES = { red_flat: 'net1', red_wide: 'net2', red_bare: 'net3' } as const;

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
    secondaryLayer2('red', 'flat', FLAT),
    secondaryLayer3('red', 'wide', ['10.91.0.0/16/24', 'fd00:91::/48/64']),
    secondaryLayer2('red', 'bare', []),
    on('red', 'a', 'node-1', 'flat,wide,bare'),
    on('red', 'b', 'node-2', 'flat,wide,bare'),
    // The same subnets, of another tenant.
    namespace('blue'),
    layer2('blue', 'net', ['10.81.0.0/16', 'fd00:81::/64']),
    secondaryLayer2('blue', 'flat', FLAT),
    on('blue', 'c', 'node-1', 'flat'),
    on('blue', 'd', 'node-2', 'flat'),
    // Of the default network.
    plainNamespace('plain'),
    secondaryLayer2('plain', 'flat', FLAT),
    on('plain', 'e', 'node-1', 'flat'),
    on('plain', 'f', 'node-2', 'flat'),
  ]);
});

/** @throws Error when it has none */
const addressOn = async (key: string, network: string, family: Family): Promise<Ip> => {
  const { attachments } = await readPod(cluster(), key);
  const found = attachments.find((one) => one.network === network)?.addresses.find((ip) => ipFamily(ip) === family);
  if (found === undefined) throw new Error(`${key} has no IPv${family} address on ${network}`);
  return found;
};

const packetsBy = async (from: string, to: string, network: string, device: string): Promise<Packet[]> => {
  const addresses = await Promise.all(FAMILIES.map((family) => addressOn(to, network, family)));
  return addresses.flatMap((address) => PROTOCOLS.map((protocol) => ({ from, to, address, protocol, device })));
};

const macOf = async (key: string, device: string): Promise<string> =>
  (await cluster().exec(key, ['cat', `/sys/class/net/${device}/address`])).stdout.trim();

const linkCount = async (node: string): Promise<number> =>
  (await cluster().node(node, ['ip', '-o', 'link', 'show', 'type', 'veth'])).stdout.trim().split('\n').length;

describe('a pod of several networks', () => {
  it.each(['red_flat', 'red_wide'] as const)('reaches others of %s on another node, both ways', async (network) => {
    const device = DEVICES[network];
    const packets = [
      ...(await packetsBy('red/a', 'red/b', network, device)),
      ...(await packetsBy('red/b', 'red/a', network, device)),
    ];
    await eventually(async () => expect(await arrivals(cluster(), packets)).toEqual(packets.map(describePacket)));
  });

  it('reaches others by its primary network as before, and the outside by no other', async () => {
    const { key } = await readPod(cluster(), 'red/a');
    for (const address of addressesOf(await readPod(cluster(), 'red/b'))) {
      await cluster().exec(key, ['ping', '-c', '1', '-W', '2', address]);
    }
    for (const family of FAMILIES) {
      const { stdout } = await cluster().exec(key, ['ip', `-${family}`, 'route', 'show', 'default']);
      expect(stdout).toContain('dev ovn-udn1');
      expect(stdout).not.toMatch(/dev net\d/);
      const byOther = cluster().exec(key, ['ping', '-c', '1', '-W', '1', '-I', 'net2', outside(family)]);
      await expect(byOther).rejects.toThrow();
    }
  });

  it('has an interface without addresses on a network without IPAM, and passes what it is given', async () => {
    const { stdout } = await cluster().exec('red/a', ['ip', '-o', 'addr', 'show', 'dev', 'net3', 'scope', 'global']);
    expect(stdout).toBe('');
    await cluster().exec('red/a', ['ip', 'addr', 'add', '192.168.5.1/24', 'dev', 'net3']);
    await cluster().exec('red/b', ['ip', 'addr', 'add', '192.168.5.2/24', 'dev', 'net3']);
    await eventually(() => cluster().exec('red/a', ['ping', '-c', '1', '-W', '1', '-I', 'net3', '192.168.5.2']));
  });

  it('of the default network has its secondary one beside it', async () => {
    const packets = await packetsBy('plain/e', 'plain/f', 'plain_flat', 'net1');
    await eventually(async () => expect(await arrivals(cluster(), packets)).toEqual(packets.map(describePacket)));
    await cluster().exec('plain/e', ['ping', '-c', '1', '-W', '2', outside(4)]);
  });
});

it('nothing that a pod sends by a secondary interface gets to another network, or under another name', async () => {
  const [own, peer] = [await addressOn('red/a', 'red_flat', 4), await addressOn('red/b', 'red_flat', 4)];
  const peer6 = await addressOn('red/b', 'red_flat', 6);
  const [mac, peerMac, foreignMac] = [
    await macOf('red/a', 'net1'),
    await macOf('red/b', 'net1'),
    await macOf('blue/d', 'net1'),
  ];
  const other = parseIp('10.90.0.99');
  const frame = (name: string, build: NamedFrame['build']): NamedFrame => ({ name, device: 'net1', build });
  const honest = frame('honest', (payload) => udp({ from: mac, to: peerMac }, { src: own, dst: peer, payload }));
  const attacks = [
    frame('as another address', (payload) => udp({ from: mac, to: peerMac }, { src: other, dst: peer, payload })),
    frame('as another IPv6 address', (payload) =>
      udp({ from: mac, to: peerMac }, { src: parseIp('fd00:90::99'), dst: peer6, payload }),
    ),
    frame('as another MAC', (payload) =>
      udp({ from: '02:00:00:00:00:99', to: peerMac }, { src: own, dst: peer, payload }),
    ),
    frame('ARP for another address', (payload) =>
      Buffer.concat([
        arp({ from: mac, to: BROADCAST }, { op: 'reply', tell: other, about: peer }),
        Buffer.from(payload),
      ]),
    ),
    frame('to a MAC of another tenant', (payload) =>
      udp({ from: mac, to: foreignMac }, { src: own, dst: peer, payload }),
    ),
    frame('to all', (payload) =>
      udp({ from: mac, to: BROADCAST }, { src: own, dst: parseIp('255.255.255.255'), payload }),
    ),
    frame('to the outside', (payload) => udp({ from: mac, to: peerMac }, { src: own, dst: outside(4), payload })),
  ];
  const pods = ['red/a', 'red/b', 'blue/c', 'blue/d', 'plain/e', 'plain/f'];
  const seen = await sendAndWatch(cluster(), 'red/a', attacks, [honest], pods);
  // A neighbour gets what is for its MAC, or for all: it is no router. Equal addresses of another tenant have equal MACs.
  const allowed = ['honest', 'to all', 'to the outside', 'to a MAC of another tenant'].map((name) => `${name} @ red/b`);
  expect(namesOf(seen).filter((name) => !allowed.includes(name))).toEqual([]);
});

it('of a pod’s default routes, that of the family which a selection asks for is on its interface, and the others stay', async () => {
  const networks = '[{"name":"flat","default-route":["10.90.0.250"]}]';
  await applyAndWait(cluster(), [on('red', 'routed', 'node-1', networks)]);
  const routeOf = async (family: Family): Promise<string> =>
    (await cluster().exec('red/routed', ['ip', `-${family}`, 'route', 'show', 'default'])).stdout;
  expect((await routeOf(4)).trim().split('\n')).toEqual([
    expect.stringMatching(/^default via 10\.90\.0\.250 dev net1 /),
  ]);
  expect(await routeOf(6)).toContain('dev ovn-udn1');
  await cluster().exec('red/routed', ['ping', '-c', '1', '-W', '2', await addressOn('red/b', 'red_net', 4)]);
  await deletePods(cluster(), 'red/routed');
});

describe('what is left', () => {
  it('of a pod that selects the same network twice has two interfaces, and goes with them', async () => {
    const before = await linkCount('node-1');
    await applyAndWait(cluster(), [on('red', 'twice', 'node-1', 'flat,wide,wide@more,flat@second')]);
    expect(await linkCount('node-1')).toBe(before + 6);
    const { attachments } = await readPod(cluster(), 'red/twice');
    const flat = attachments.filter(({ network }) => network === 'red_flat').flatMap(({ addresses }) => addresses);
    expect(new Set(flat).size).toBe(4);
    for (const family of FAMILIES) {
      const target = await addressOn('red/b', 'red_flat', family);
      for (const device of ['net1', 'second']) {
        await eventually(() => cluster().exec('red/twice', ['ping', '-c', '1', '-W', '1', '-I', device, target]));
      }
    }
    await deletePods(cluster(), 'red/twice');
    await eventually(async () => expect(await linkCount('node-1')).toBe(before));
    await eventually(async () => expect(await ownRowsNaming(cluster(), 'node-1', 'red_twice')).toEqual([]));
  });

  it('of a pod that selects what cannot be followed is nothing, and an event says why', async () => {
    const before = await linkCount('node-1');
    const objects = await cluster().objects();
    const refused = [
      ['missing', 'flat,none', 'NetworkAttachmentDefinition red/none does not exist'],
      [
        'foreign',
        'flat,blue/flat',
        'network blue_flat is not for namespace red: NetworkAttachmentDefinition blue/flat',
      ],
      ['primary', 'flat,net', 'red/net as net2: a primary network cannot be selected'],
    ] as const;
    await objects.apply(refused.map(([name, networks]) => on('red', name, 'node-1', networks)));
    for (const [name, , message] of refused) {
      await eventually(async () => {
        const events = (await eventsOf(cluster(), 'red', name)).map((event) => event.message);
        expect(events.join('\n')).toContain(message);
      });
    }
    expect(await linkCount('node-1')).toBe(before);
    await deletePods(cluster(), ...refused.map(([name]) => `red/${name}`));
  });

  it('when the agent is killed while it attaches is what belongs to the pod, and nothing when that goes', async () => {
    const before = await linkCount('node-1');
    await (await cluster().objects()).apply([on('red', 'killed', 'node-1', 'flat,wide,bare')]);
    await cluster().kill('node-1', 'agent');
    await (await cluster().objects()).wait('pod', 'red/killed', 'ready', { timeoutSeconds: 60 });
    expect(await linkCount('node-1')).toBe(before + 5);
    const packets = await packetsBy('red/b', 'red/killed', 'red_wide', 'net2');
    await eventually(async () => expect(await arrivals(cluster(), packets)).toEqual(packets.map(describePacket)));
    await deletePods(cluster(), 'red/killed');
    await eventually(async () => expect(await linkCount('node-1')).toBe(before));
  });

  it('when ovn-controller is killed between two of its attachments is gone with all that was made, and the next one comes', async () => {
    const objects = await cluster().objects();
    const [before, rows] = [await linkCount('node-1'), await ownRowsNaming(cluster(), 'node-1', 'red_half')];
    // Stopped, it installs none of the ports that ADD has made, and ADD waits.
    await cluster().kill('node-1', 'ovn-controller', 'SIGSTOP');
    try {
      await objects.apply([on('red', 'half', 'node-1', 'flat,wide,bare')]);
      await eventually(async () => expect(await linkCount('node-1')).toBe(before + 5));
      await deletePods(cluster(), 'red/half');
      await eventually(async () => expect(await linkCount('node-1')).toBe(before));
      await eventually(async () => expect(await ownRowsNaming(cluster(), 'node-1', 'red_half')).toEqual(rows));
      await objects.apply([on('red', 'half', 'node-1', 'flat,wide,bare')]);
      await eventually(async () => expect(await linkCount('node-1')).toBe(before + 5));
    } finally {
      await cluster().kill('node-1', 'ovn-controller', 'SIGKILL');
    }
    await objects.wait('pod', 'red/half', 'ready', { timeoutSeconds: 60 });
    const packets = await packetsBy('red/b', 'red/half', 'red_wide', 'net2');
    await eventually(async () => expect(await arrivals(cluster(), packets)).toEqual(packets.map(describePacket)));
    await deletePods(cluster(), 'red/half');
    await eventually(async () => expect(await linkCount('node-1')).toBe(before));
  });
});

describe('a MultiNetworkPolicy', () => {
  const NODES = ['node-1', 'node-2'] as const;
  const labelled = (name: string, node: string, labels: object): ManifestObject => {
    const made = on('red', name, node, 'flat,wide,bare');
    return { ...made, metadata: { ...made.metadata, labels } };
  };

  beforeAll(async () => {
    await installMultiPolicies(cluster(), NODES);
    await applyAndWait(cluster(), [
      labelled('a', 'node-1', { role: 'friend' }),
      labelled('b', 'node-2', { app: 'web' }),
      labelled('stranger', 'node-1', {}),
    ]);
  }, 120_000);

  const byName = async (from: string, to: string, networks: readonly (keyof typeof DEVICES)[]): Promise<Packet[]> =>
    (await Promise.all(networks.map((network) => packetsBy(from, to, network, DEVICES[network])))).flat();

  /** Of the network flat, with packets between red/a and red/stranger. */
  const probedMatrix = async (): Promise<string> =>
    (await udnctl(cluster(), 'node-1', 'policy', 'matrix', 'red', '--network=red_flat', '--probe')).stdout;

  it('lets in whom it selects, on the networks that it names and no other', async () => {
    const named = ['red_flat', 'red_wide'] as const;
    const packets = [
      ...(await byName('red/a', 'red/b', named)),
      ...(await byName('red/stranger', 'red/b', named)),
      ...(await byName('red/b', 'red/a', named)),
      ...(await packetsBy('red/a', 'red/b', 'red_net', 'ovn-udn1')),
      ...(await packetsBy('red/stranger', 'red/b', 'red_net', 'ovn-udn1')),
      // Another tenant's network has the same name and the same addresses.
      ...(await packetsBy('blue/c', 'blue/d', 'blue_flat', 'net1')),
    ];
    await onlyArrive(cluster(), packets, () => true);
    const friends = multiPolicy('red', 'friends', 'flat, red/wide', {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ podSelector: { matchLabels: { role: 'friend' } } }], ports: [{ protocol: 'TCP' }] }],
    });
    await withPolicies(cluster(), [friends], async () => {
      const isToWeb = ({ to, device }: Packet) => to === 'red/b' && device !== 'ovn-udn1';
      await onlyArrive(
        cluster(),
        packets,
        (packet) => !isToWeb(packet) || (packet.from === 'red/a' && packet.protocol === 'tcp'),
      );
      const { stdout } = await cluster().node('node-2', ['udnctl', 'policy', 'show', 'MultiNetworkPolicy/red/friends']);
      expect(stdout).toMatch(/^MultiNetworkPolicy red\/friends, for red_flat, red_wide: ready\n/);
      const why = (...words: string[]) =>
        cluster().node('node-2', ['udnctl', 'policy', 'why', '--network=red_flat', ...words]);
      await expect(why('red/stranger', 'red/b', 'tcp/80')).rejects.toMatchObject({
        exitCode: 1,
        stdout: expect.stringMatching(/denied: no rule for Ingress of red\/b/),
      });
      const matrix = await udnctl(cluster(), 'node-2', 'policy', 'matrix', 'red', '--network=red_flat');
      // Ends of the other node are not known here, and what this one denies is denied.
      expect(matrix).toMatchObject({ status: 2, stdout: expect.stringMatching(/^stranger +\? +- +\.$/m) });
      expect(matrix.stdout).not.toMatch(/^!|cannot be read/m);
      expect(await probedMatrix()).toMatch(/^a +\. +\? +all$[^!]*fared the same, in 4 connections$/m);
      // The other end is of another node, whose agent knows.
      await expect(why('red/a', 'red/b', 'tcp/80')).rejects.toMatchObject({
        exitCode: 2,
        stdout: expect.stringMatching(/ingress of red\/b: allowed/),
      });
      await expectNoDifference(cluster(), NODES);
    });
    await onlyArrive(cluster(), packets, () => true);
  });

  it('isolates a pod whose agent is killed between the policy and the pod, before its first packet', async () => {
    const deny = multiPolicy('red', 'deny', 'flat', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    await withPolicies(cluster(), [deny], async () => {
      await cluster().kill('node-2', 'agent', 'SIGKILL');
      await (await cluster().objects()).apply([labelled('orphan', 'node-2', { app: 'late' })]);
      await (await cluster().objects()).wait('pod', 'red/orphan', 'ready', { timeoutSeconds: 60 });
      const packets = [
        ...(await packetsBy('red/a', 'red/orphan', 'red_flat', 'net1')),
        ...(await packetsBy('red/orphan', 'red/b', 'red_flat', 'net1')),
      ];
      expect(await arrivals(cluster(), packets)).toEqual([]);
      await onlyArrive(cluster(), await packetsBy('red/a', 'red/orphan', 'red_wide', 'net2'), () => true);
      expect(await probedMatrix()).toMatch(/^a +\. +- +- +-$[^!]*fared the same, in 4 connections$/m);
      await expectNoDifference(cluster(), NODES);
    });
    await deletePods(cluster(), 'red/orphan');
  });

  it('isolates a pod that comes later, before its first packet', async () => {
    const deny = multiPolicy('red', 'deny', 'flat', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    await withPolicies(cluster(), [deny], async () => {
      await applyAndWait(cluster(), [labelled('late', 'node-2', { app: 'late' })]);
      const packets = [
        ...(await packetsBy('red/a', 'red/late', 'red_flat', 'net1')),
        ...(await packetsBy('red/late', 'red/b', 'red_flat', 'net1')),
      ];
      expect(await arrivals(cluster(), packets)).toEqual([]);
      const open = await packetsBy('red/a', 'red/late', 'red_wide', 'net2');
      await onlyArrive(cluster(), open, () => true);
    });
    await deletePods(cluster(), 'red/late');
  });

  it('lets blocks in on a network without IPAM', async () => {
    const addresses = [
      ['red/a', '192.168.6.1/24'],
      ['red/a', '192.168.6.9/24'],
      ['red/b', '192.168.6.2/24'],
      ['red/a', 'fd00:6::1/64'],
      ['red/a', 'fd00:6::9/64'],
      ['red/b', 'fd00:6::2/64'],
    ] as const;
    for (const [key, address] of addresses)
      await cluster().exec(key, [
        'ip',
        'addr',
        'add',
        address,
        'dev',
        'net3',
        ...(address.includes(':') ? ['nodad'] : []),
      ]);
    const ping = (from: string, to: string) => cluster().exec('red/a', ['ping', '-c', '1', '-W', '1', '-I', from, to]);
    const pairs = (last: number) =>
      [
        [`192.168.6.${last}`, '192.168.6.2'],
        [`fd00:6::${last}`, 'fd00:6::2'],
      ] as const;
    for (const [from, to] of [...pairs(1), ...pairs(9)]) await eventually(() => ping(from, to));
    const from = [{ ipBlock: { cidr: '192.168.6.1/32' } }, { ipBlock: { cidr: 'fd00:6::1/128' } }];
    const blocks = multiPolicy('red', 'blocks', 'bare', {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from }],
    });
    await withPolicies(cluster(), [blocks], async () => {
      for (const [own, to] of pairs(9)) await eventually(async () => await expect(ping(own, to)).rejects.toThrow());
      for (const [own, to] of pairs(1)) await eventually(() => ping(own, to));
    });
    for (const [own, to] of pairs(9)) await eventually(() => ping(own, to));
  });
});
