/** Pods that say what they like, byte by byte, and who hears it. Needs root and `make build`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import { macFromIp } from '../../net/mac.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { useCluster } from './support/cluster.ts';
import {
  ALL_NODES,
  arp,
  BROADCAST,
  type Datagram,
  type Ethernet,
  ipBytes,
  multicastMac,
  neighbourAdvertisement,
  routerAdvertisement,
  udp,
} from './support/frames.ts';
import {
  type Foothold,
  type HostileCluster,
  hostileCluster,
  masqueradeAddresses,
  type NamedFrame,
  NODE,
  namesOf,
  neighbourMac,
  OTHER_NODE,
  ofFamily,
  type Sighting,
  sendAndWatch,
  type Tenant,
} from './support/hostile.ts';
import { nodeAddress, outside, pings } from './support/north-south.ts';

const cluster = useCluster({ name: 'test-hostile' });
let here: HostileCluster;
const macs = new Map<string, string>();

beforeAll(async () => {
  here = await hostileCluster(cluster());
  for (const node of [NODE, OTHER_NODE]) {
    const { stdout } = await cluster().node(node, ['cat', '/sys/class/net/br-ex/address']);
    macs.set(node, stdout.trim());
  }
  // Every next hop is known from here on.
  for (const key of here.pods) {
    for (const family of FAMILIES) await pings(cluster(), key, outside(family));
  }
});

const nodeMac = (node: string): string => macs.get(node) ?? '';

const attack = (from: Foothold, frames: readonly NamedFrame[], honest: readonly NamedFrame[]) =>
  sendAndWatch(
    cluster(),
    from.pod,
    frames,
    honest,
    here.pods.filter((key) => key !== from.pod),
  );

const towards = ({ mac, gatewayMac }: Foothold): Ethernet => ({ from: mac, to: gatewayMac });

/** To the server outside, from the pod's own addresses: it leaves with the node's. */
const honestOut = (from: Foothold, family: Family): NamedFrame => ({
  name: 'honest',
  device: from.device,
  build: (payload) => udp(towards(from), { src: ofFamily(from.addresses, family), dst: outside(family), payload }),
});

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

/** That the address is at this MAC: in every way in which neighbours are told. */
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

/** What left the first node with another source than the node's address or MAC. */
const leavingNotAsNode = (seen: readonly Sighting[]): readonly string[] =>
  seen
    .filter(({ place }) => place === NODE || place === 'outside')
    .filter(({ bytes }) => {
      const isIpv4 = bytes.readUInt16BE(12) === 0x0800;
      const source = isIpv4 ? bytes.subarray(26, 30) : bytes.subarray(22, 38);
      const mac = bytes.subarray(6, 12).toString('hex');
      return !source.equals(ipBytes(nodeAddress(NODE, isIpv4 ? 4 : 6))) || mac !== nodeMac(NODE).replaceAll(':', '');
    })
    .map(({ name, bytes }) => `${name}: ${bytes.subarray(0, 54).toString('hex')}`);

const HONEST_OUT = [`honest @ ${NODE}`, 'honest @ outside'];

/** Addresses of others, by what they are. */
const foreign = (from: Foothold, family: Family): readonly (readonly [string, Ip])[] => {
  const own = from.pod.split('/')[0];
  return [
    ['gateway', ofFamily(from.gateways, family)],
    ['neighbour', ofFamily(here.foothold(`${own}/b`).addresses, family)],
    ...(['red', 'blue', 'green', 'gold', 'plain'] as const)
      .filter((tenant) => tenant !== own)
      .map((tenant) => [tenant, ofFamily(here.foothold(`${tenant}/b`).addresses, family)] as const),
    ['node', nodeAddress(NODE, family)],
    ['other node', nodeAddress(OTHER_NODE, family)],
    ['outside', outside(family)],
    ...masqueradeAddresses(family).map((ip) => [`masquerade ${ip}`, ip] as const),
  ];
};

const ATTACKERS = ['red', 'green', 'plain'] as const satisfies readonly Tenant[];

describe.each(ATTACKERS)('a pod of %s', (tenant) => {
  const attacker = (): Foothold => here.foothold(`${tenant}/a`);
  const peers = [`${tenant}/b`, `${tenant}/c`];

  it.each(FAMILIES)('sends from nobody else’s address or MAC, IPv%s', async (family) => {
    const from = attacker();
    const dst = outside(family);
    const claimed = foreign(from, family).map(
      ([name, src]): NamedFrame => ({
        name: `from ${name}`,
        device: from.device,
        build: (payload) => udp(towards(from), { src, dst, payload }),
      }),
    );
    const otherMacs = [from.gatewayMac, here.foothold(`${tenant}/b`).mac, nodeMac(NODE), '02:00:00:00:00:77'];
    const disguised = otherMacs.map(
      (mac): NamedFrame => ({
        name: `as ${mac}`,
        device: from.device,
        build: (payload) =>
          udp({ from: mac, to: from.gatewayMac }, { src: ofFamily(from.addresses, family), dst, payload }),
      }),
    );
    expect(namesOf(await attack(from, [...claimed, ...disguised], [honestOut(from, family)]))).toEqual(HONEST_OUT);
  });

  it.each(FAMILIES)('reaches no other network by any address or next hop, IPv%s', async (family) => {
    const from = attacker();
    const src = ofFamily(from.addresses, family);
    const others = (['red', 'blue', 'green', 'gold', 'plain'] as const).filter((other) => other !== tenant);
    const victims = others
      .flatMap((other) => [`${other}/a`, `${other}/b`, `${other}/c`])
      .map((key) => here.foothold(key));
    const frames = victims.flatMap((victim) =>
      [...new Set([victim.addresses, victim.defaultAddresses].map((addresses) => ofFamily(addresses, family)))].flatMap(
        (dst) =>
          [from.gatewayMac, victim.mac, victim.gatewayMac, nodeMac(NODE), nodeMac(OTHER_NODE), BROADCAST].map(
            (to): NamedFrame => ({
              name: `to ${victim.pod} ${dst} by ${to}`,
              device: from.device,
              build: (payload) => udp({ from: from.mac, to }, { src, dst, payload }),
            }),
          ),
      ),
    );
    // The host itself, which pods of the default network reach by this address as by its own.
    const host = tenant === 'plain' ? ['169.254.0.2', 'fd69::2'] : [];
    const masquerade = masqueradeAddresses(family)
      .filter((ip) => !host.includes(ip))
      .flatMap((dst) =>
        [from.gatewayMac, nodeMac(NODE)].map(
          (to): NamedFrame => ({
            name: `to ${dst} by ${to}`,
            device: from.device,
            build: (payload) => udp({ from: from.mac, to }, { src, dst, payload }),
          }),
        ),
      );
    const seen = await attack(from, [...frames, ...masquerade], [honestOut(from, family)]);
    expect(namesOf(seen.filter(({ place }) => place.includes('/') && !peers.includes(place)))).toEqual([]);
    expect(namesOf(seen.filter(({ name }) => name.includes('169.254.') || name.includes('fd69:')))).toEqual([]);
    expect(leavingNotAsNode(seen)).toEqual([]);
    expect(namesOf(seen)).toEqual(expect.arrayContaining(HONEST_OUT));
  });

  it('claims no address of others by ARP or neighbour discovery', async () => {
    const from = attacker();
    const victim = here.foothold(`${tenant}/b`);
    const known = await Promise.all(
      from.gateways.map((gateway) => neighbourMac(cluster(), victim.pod, victim.device, gateway)),
    );
    const claims = FAMILIES.flatMap((family) =>
      foreign(from, family).flatMap(([name, ip]) => claim(from, name, ip, from.mac)),
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
    // Of neighbour discovery, OVN's ACLs do not keep anything from the locked interfaces of the default network.
    const locked = here.pods.filter((key) => tenant === 'plain' && !key.startsWith('plain/'));
    expect(seen.filter(({ place }) => ![...heardBy, ...locked].includes(place))).toEqual([]);
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

  it('reaches nobody of another network by link-local addresses', async () => {
    const from = attacker();
    const { stdout } = await cluster().node(NODE, ['ip', '-6', '-br', 'addr', 'show', 'br-ex', 'scope', 'link']);
    const nodeLinkLocal = parseIp(/fe80::[0-9a-f:]+/.exec(stdout)?.[0] ?? '');
    const others = (['red', 'blue', 'green', 'gold', 'plain'] as const).filter((other) => other !== tenant);
    const victims = others.flatMap((other) => [`${other}/a`, `${other}/c`]).map((key) => here.foothold(key));
    const targets = [
      ...victims.map(({ linkLocal, mac }) => ({ ip: linkLocal, mac })),
      { ip: nodeLinkLocal, mac: nodeMac(NODE) },
    ];
    const frames = targets.flatMap(({ ip, mac }) =>
      [mac, from.gatewayMac, BROADCAST].map(
        (to): NamedFrame => ({
          name: `to ${ip} by ${to}`,
          device: from.device,
          build: (payload) => udp({ from: from.mac, to }, { src: from.linkLocal, dst: ip, payload }),
        }),
      ),
    );
    const friend = here.foothold(`${tenant}/b`);
    const honest: NamedFrame = {
      name: 'honest',
      device: from.device,
      build: (payload) =>
        udp({ from: from.mac, to: friend.mac }, { src: from.linkLocal, dst: friend.linkLocal, payload }),
    };
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

it.each(FAMILIES)('a tenant gets nothing out by its interface on the default network, IPv%s', async (family) => {
  const tenant = here.foothold('red/a');
  const insider = here.foothold('plain/a');
  const src = ofFamily(tenant.defaultAddresses, family);
  const mac = macFromIp(ofFamily(tenant.defaultAddresses, 4));
  const targets: (readonly [string, Ip])[] = [
    [insider.gatewayMac, outside(family)],
    [insider.gatewayMac, nodeAddress(NODE, family)],
    [insider.gatewayMac, ofFamily(insider.gateways, family)],
    [insider.gatewayMac, ofFamily(here.foothold('plain/c').addresses, family)],
    [insider.mac, ofFamily(insider.addresses, family)],
    [nodeMac(NODE), outside(family)],
    ...masqueradeAddresses(family).map((ip) => [insider.gatewayMac, ip] as const),
    ...['red/b', 'blue/a'].map((key) => {
      const { defaultAddresses } = here.foothold(key);
      return [macFromIp(ofFamily(defaultAddresses, 4)), ofFamily(defaultAddresses, family)] as const;
    }),
  ];
  const frames = targets.map(
    ([to, dst]): NamedFrame => ({
      name: `to ${dst} by ${to}`,
      device: 'eth0',
      build: (payload) => udp({ from: mac, to }, { src, dst, payload }),
    }),
  );
  expect(namesOf(await attack(tenant, frames, [honestOut(tenant, family)]))).toEqual(HONEST_OUT);
});

describe.each(FAMILIES)('a host outside, IPv%s', (family) => {
  it('reaches no pod and no masquerade address, whoever it claims to be', async () => {
    const mac = (await cluster().outside(['cat', '/sys/class/net/eth0/address'])).stdout.trim();
    const victims = ['red/a', 'blue/a', 'green/a', 'gold/a', 'plain/a'].map((key) => here.foothold(key));
    const masquerade = masqueradeAddresses(family);
    const sources = [
      outside(family),
      nodeAddress(NODE, family),
      nodeAddress(OTHER_NODE, family),
      ofFamily(here.foothold('red/b').addresses, family),
      ...masquerade,
    ];
    const destinations = new Set([
      ...victims.flatMap(({ addresses, defaultAddresses }) =>
        [addresses, defaultAddresses].map((of) => ofFamily(of, family)),
      ),
      ...masquerade,
    ]);
    const frame = (src: Ip, dst: Ip, name = `${src} → ${dst}`): NamedFrame => ({
      name,
      device: 'eth0',
      build: (payload) => udp({ from: mac, to: nodeMac(NODE) }, { src, dst, payload }),
    });
    const frames = sources.flatMap((src) => [...destinations].map((dst) => frame(src, dst)));
    const asMasquerade = masquerade.map((src) => frame(src, nodeAddress(NODE, family), 'as masquerade'));
    const honest = frame(outside(family), nodeAddress(NODE, family), 'honest');
    const seen = await sendAndWatch(cluster(), 'outside', [...frames, ...asMasquerade], [honest], here.pods);
    expect(namesOf(seen.filter(({ place }) => place !== NODE))).toEqual([]);
    expect(namesOf(seen.filter(({ name }) => name === 'as masquerade' || name === 'honest'))).toEqual([
      `honest @ ${NODE}`,
    ]);
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
