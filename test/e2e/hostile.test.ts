/**
 * Pods that say what they like, byte by byte, and who hears it. What only OVN's switches have to do with is here alone. Needs root and
 * `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { useCluster } from './support/cluster/cluster.ts';
import {
  addressesOfOthers,
  type Foothold,
  type HostileCluster,
  hostileCluster,
  type NamedFrame,
  namesOf,
  neighbourMac,
  ofFamily,
  type Sighting,
  sendAndWatch,
  type Tenant,
} from './support/hostile/attacks.ts';
import { hostileByNode } from './support/hostile/by-node.ts';
import { hostileLinks } from './support/hostile/links.ts';
import { hostileTunnels } from './support/hostile/tunnels.ts';
import {
  ALL_NODES,
  arp,
  BROADCAST,
  type Datagram,
  type Ethernet,
  multicastMac,
  neighbourAdvertisement,
  routerAdvertisement,
  udp,
} from './support/packets/frames.ts';

const cluster = useCluster({ name: 'test-hostile' });
let here: HostileCluster;

beforeAll(async () => {
  here = await hostileCluster(cluster());
});

hostileByNode(cluster, () => here);
hostileLinks(cluster, () => here);
hostileTunnels(cluster, () => here);

const attack = (from: Foothold, frames: readonly NamedFrame[], honest: readonly NamedFrame[]) =>
  sendAndWatch(
    cluster(),
    from.pod,
    frames,
    honest,
    here.pods.filter((key) => key !== from.pod),
  );

const placesOf = (seen: readonly Sighting[]): readonly string[] => [...new Set(namesOf(seen))];

const toEverybody = (
  from: Foothold,
  family: Family,
  datagram: Omit<Datagram, 'src' | 'dst'>,
  group = family === 4 ? parseIp('255.255.255.255') : ALL_NODES,
): [Ethernet, Datagram] => [
  { from: from.mac, to: family === 4 ? BROADCAST : multicastMac(group) },
  { ...datagram, src: family === 4 ? ofFamily(from.addresses, 4) : from.linkLocal, dst: group },
];

/** That the address is at this MAC: in every way in which neighbours are announced. */
const claim = (from: Foothold, name: string, ip: Ip, mac: string): readonly NamedFrame[] => {
  const frame = (how: string, build: () => Buffer): NamedFrame => ({
    name: `${name} ${how}`,
    device: from.device,
    build: (payload) => Buffer.concat([build(), Buffer.from(payload)]),
  });
  const toAll = { from: mac, to: BROADCAST };
  const toAllNodes = { from: mac, to: multicastMac(ALL_NODES) };
  return ipFamily(ip) === 4
    ? [
        frame('gratuitous reply', () => arp(toAll, { op: 'reply', tell: ip, about: ip })),
        frame('reply in the name of', () =>
          arp({ ...toAll, from: from.mac }, { op: 'reply', tell: ip, tellMac: mac, about: ip }),
        ),
        frame('gratuitous request', () => arp(toAll, { op: 'request', tell: ip, about: ip })),
      ]
    : [
        frame('advertisement', () => neighbourAdvertisement(toAllNodes, ip, ALL_NODES, ip)),
        frame('advertisement by link-local', () => neighbourAdvertisement(toAllNodes, from.linkLocal, ALL_NODES, ip)),
      ];
};

const ATTACKERS = ['red', 'green', 'plain'] as const satisfies readonly Tenant[];

describe.each(ATTACKERS)('a pod of %s', (tenant) => {
  const attacker = (): Foothold => here.foothold(`${tenant}/a`);
  const peers = [`${tenant}/b`, `${tenant}/c`];

  it('claims no address of others by ARP or neighbour discovery', async () => {
    const from = attacker();
    const victim = here.foothold(`${tenant}/b`);
    const known = await Promise.all(
      from.gateways.map((gateway) => neighbourMac(cluster(), victim.pod, victim.device, gateway)),
    );
    const claims = FAMILIES.flatMap((family) =>
      addressesOfOthers(here, tenant, family).flatMap(([name, ip]) => claim(from, name, ip, from.mac)),
    );
    const disguised = FAMILIES.flatMap((family) =>
      claim(from, 'own', ofFamily(from.addresses, family), from.gatewayMac),
    );
    const honest = FAMILIES.flatMap((family) => claim(from, 'honest', ofFamily(from.addresses, family), from.mac));
    const seen = await attack(from, [...claims, ...disguised], honest);
    expect(namesOf(seen.filter(({ name }) => !name.startsWith('honest')))).toEqual([]);
    const heardBy = tenant === 'green' ? peers : peers.slice(0, 1);
    expect(new Set(seen.filter(({ name }) => !name.includes('advertisement')).map(({ place }) => place))).toEqual(
      new Set(heardBy),
    );
    expect(seen.filter(({ place }) => !heardBy.includes(place))).toEqual([]);
    expect(
      await Promise.all(from.gateways.map((gateway) => neighbourMac(cluster(), victim.pod, victim.device, gateway))),
    ).toEqual(known);
    expect(known).toEqual([from.gatewayMac, from.gatewayMac]);
  });

  it.each(FAMILIES)('is heard by its own network only when it speaks to everybody, IPv%s', async (family) => {
    const from = attacker();
    const groups = family === 4 ? ['224.0.0.1', '224.0.0.251', '255.255.255.255'] : ['ff02::1', 'ff02::2', 'ff02::fb'];
    const frames = groups.map(
      (group): NamedFrame => ({
        name: `to ${group}`,
        device: from.device,
        build: (payload) => udp(...toEverybody(from, family, { payload }, parseIp(group))),
      }),
    );
    const honest: NamedFrame = { ...(frames[0] as NamedFrame), name: 'honest' };
    const seen = await attack(from, frames, [honest]);
    expect(placesOf(seen.filter(({ place }) => !peers.includes(place)))).toEqual([]);
    expect(namesOf(seen)).toContain(`honest @ ${tenant}/b`);
  });

  it.each(FAMILIES)('is no DHCP server for others, IPv%s', async (family) => {
    const from = attacker();
    const [server, client] = family === 4 ? [67, 68] : [547, 546];
    const toAll = (name: string, srcPort: number, dstPort: number): NamedFrame => ({
      name,
      device: from.device,
      build: (payload) => udp(...toEverybody(from, family, { srcPort, dstPort, payload })),
    });
    const everybodyHonest = toAll('honest', server, client + 1000);
    const answers = [toAll('answer', server, client), toAll('answer from another port', 4444, client)];
    const seen = await attack(from, answers, [everybodyHonest]);
    expect(namesOf(seen)).toEqual((tenant === 'green' ? peers : peers.slice(0, 1)).map((peer) => `honest @ ${peer}`));
  });
});

describe.each(['gold', 'red', 'plain'] as const)('a pod of %s', (tenant) => {
  it('is no router for others: they do not even hear it', async () => {
    const from = here.foothold(`${tenant}/a`);
    const victim = here.foothold(`${tenant}/b`);
    const listening = [...here.pods.filter((key) => key !== from.pod && key.startsWith(`${tenant}/`))];
    const frame = (name: string, to: string, build: (ethernet: Ethernet) => Buffer): NamedFrame => ({
      name,
      device: from.device,
      build: (payload) => Buffer.concat([build({ from: from.mac, to }), Buffer.from(payload)]),
    });
    const advertise = (ethernet: Ethernet): Buffer =>
      routerAdvertisement(ethernet, from.linkLocal, parseIp('fd00:bad::'));
    const toAll = multicastMac(ALL_NODES);
    const advertisements = [
      frame('to all', toAll, advertise),
      frame('to one', victim.mac, advertise),
      frame('to the gateway', from.gatewayMac, advertise),
    ];
    const honest = frame('honest', toAll, (ethernet) =>
      neighbourAdvertisement(ethernet, from.linkLocal, ALL_NODES, from.linkLocal),
    );
    const seen = await attack(from, advertisements, [honest]);
    expect(namesOf(seen.filter(({ name }) => name !== 'honest'))).toEqual([]);
    const heardBy = tenant === 'gold' ? listening : listening.slice(0, 1);
    expect(namesOf(seen)).toEqual(expect.arrayContaining(heardBy.map((peer) => `honest @ ${peer}`)));
  });
});

it('pods of a layer-2 network hear their own router', async () => {
  const { pod: victim, device } = here.foothold('gold/b');
  const learned = async (): Promise<string> =>
    (await cluster().exec(victim, ['ip', '-6', 'route', 'show', 'dev', device, 'proto', 'ra'])).stdout;
  expect(await learned()).toBe('');
  // One that comes up asks: RFC 4861 §6.3.7. The pod is of no use to others after that.
  const listen = [`echo 1 > /proc/sys/net/ipv6/conf/${device}/accept_ra`, `ip link set ${device} down`];
  await cluster().exec(victim, ['sh', '-c', [...listen, `ip link set ${device} up`].join(' && ')]);
  await eventually(async () => expect(await learned()).toMatch(/^default via fe80::858:aff:fe53:1 /m));
});
