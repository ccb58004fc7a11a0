/**
 * Frames that may not get past a network’s own switches and routers: which of them do depends on the node's flows and on its own
 * stack, and so on the gateway mode. In it and outside nobody gets what a hostile pod sends with addresses of others, or to them.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import { macFromIp } from '../../../../net/mac.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { nodeAddress, outside, pings } from '../networks/north-south.ts';
import { BROADCAST, type Ethernet, ipBytes, udp } from '../packets/frames.ts';
import {
  addressesOfOthers,
  type Foothold,
  HOSTILE_TENANTS,
  type HostileCluster,
  MASQUERADE,
  type NamedFrame,
  NODE,
  namesOf,
  OTHER_NODE,
  ofFamily,
  type Sighting,
  sendAndWatch,
  type Tenant,
} from './attacks.ts';

const ATTACKERS = ['red', 'green', 'plain'] as const satisfies readonly Tenant[];

/** Call it where tests are declared. @param cast what gives the pods, once tests run */
export const hostileByNode = (cluster: () => Sandbox, cast: () => HostileCluster): void => {
  const macs = new Map<string, string>();
  const nodeMac = (node: string): string => macs.get(node) ?? '';

  beforeAll(async () => {
    for (const node of [NODE, OTHER_NODE]) {
      const { stdout } = await cluster().node(node, ['cat', '/sys/class/net/br-ex/address']);
      macs.set(node, stdout.trim());
    }
    // Every next hop is known from here on.
    const known = cast().pods.flatMap((key) => FAMILIES.map((family) => pings(cluster(), key, outside(family))));
    await Promise.all(known);
  });

  /** @param honest which has to come; default: to the server outside, from the pod's own addresses */
  const attack = (
    from: Foothold,
    frames: readonly NamedFrame[],
    honest = FAMILIES.map((one) => honestOut(from, one)),
  ) =>
    sendAndWatch(
      cluster(),
      from.pod,
      frames,
      honest,
      cast().pods.filter((key) => key !== from.pod),
    );

  /**
   * What left the first node with another source than the node's address or MAC. It gets some back, too: in local gateway mode the
   * host hears from the router that there is no way to an address, with the frame in the message.
   */
  const leavingNotAsNode = (seen: readonly Sighting[]): readonly string[] =>
    seen
      .filter(({ place, isOutgoing }) => (place === NODE && isOutgoing) || place === 'outside')
      .filter(({ place, bytes }) => {
        const isIpv4 = bytes.readUInt16BE(12) === 0x0800;
        const source = isIpv4 ? bytes.subarray(26, 30) : bytes.subarray(22, 38);
        const mac = bytes.subarray(6, 12).toString('hex');
        if (!source.equals(ipBytes(nodeAddress(NODE, isIpv4 ? 4 : 6)))) return true;
        // In local gateway mode the host sends to the router of the node network, and that sends on with its own.
        return place === NODE && mac !== nodeMac(NODE).replaceAll(':', '');
      })
      .map(({ name, bytes }) => `${name}: ${bytes.subarray(0, 54).toString('hex')}`);

  describe.each(ATTACKERS)('a pod of %s', (tenant) => {
    const attacker = (): Foothold => cast().foothold(`${tenant}/a`);
    const others = HOSTILE_TENANTS.filter((other) => other !== tenant);
    const isPeer = (place: string): boolean =>
      ['b', 'c'].some((name) => cast().foothold(`${tenant}/${name}`).pod === place);

    it('sends from nobody else’s address or MAC', async () => {
      const from = attacker();
      const otherMacs = [from.gatewayMac, cast().foothold(`${tenant}/b`).mac, nodeMac(NODE), '02:00:00:00:00:77'];
      const frames = FAMILIES.flatMap((family) => [
        ...addressesOfOthers(cast(), tenant, family).map(([name, src]) =>
          frame(from, `from ${name}`, towards(from), src, outside(family)),
        ),
        ...otherMacs.map((mac) =>
          frame(from, `as ${mac}`, { ...towards(from), from: mac }, ofFamily(from.addresses, family), outside(family)),
        ),
      ]);
      expect(namesOf(await attack(from, frames))).toEqual(HONEST_OUT);
    });

    it('reaches no other network by any address or next hop', async () => {
      const from = attacker();
      const victims = others.flatMap((other) => ['a', 'b', 'c'].map((name) => cast().foothold(`${other}/${name}`)));
      const to = (mac: string, what: string, dst: Ip): NamedFrame =>
        frame(from, `to ${what} ${dst} by ${mac}`, { from: from.mac, to: mac }, ownFor(from, dst), dst);
      const frames = victims.flatMap((victim) =>
        [...new Set([...victim.addresses, ...victim.defaultAddresses])].flatMap((dst) =>
          [from.gatewayMac, victim.mac, victim.gatewayMac, nodeMac(NODE), nodeMac(OTHER_NODE), BROADCAST].map((mac) =>
            to(mac, victim.pod, dst),
          ),
        ),
      );
      // The host itself, which pods of the default network reach by this address as by its own.
      const host = tenant === 'plain' ? ['169.254.0.2', 'fd69::2'] : [];
      const masquerade = FAMILIES.flatMap((family) => cast().masquerade(family))
        .filter((ip) => !host.includes(ip))
        .flatMap((dst) => [from.gatewayMac, nodeMac(NODE)].map((mac) => to(mac, MASQUERADE, dst)));
      const seen = await attack(from, [...frames, ...masquerade]);
      expect(namesOf(seen.filter(({ place }) => place.includes('/') && !isPeer(place)))).toEqual([]);
      expect(namesOf(seen.filter(({ name }) => name.includes(MASQUERADE)))).toEqual([]);
      expect(leavingNotAsNode(seen)).toEqual([]);
      expect(namesOf(seen)).toEqual(expect.arrayContaining([...HONEST_OUT]));
    });

    it('reaches nobody of another network by link-local addresses', async () => {
      const from = attacker();
      const { stdout } = await cluster().node(NODE, ['ip', '-6', '-br', 'addr', 'show', 'br-ex', 'scope', 'link']);
      const nodeLinkLocal = parseIp(/fe80::[0-9a-f:]+/.exec(stdout)?.[0] ?? '');
      const victims = others.flatMap((other) => ['a', 'c'].map((name) => cast().foothold(`${other}/${name}`)));
      const targets = [
        ...victims.map(({ linkLocal, mac }) => ({ ip: linkLocal, mac })),
        { ip: nodeLinkLocal, mac: nodeMac(NODE) },
      ];
      const frames = targets.flatMap(({ ip, mac }) =>
        [mac, from.gatewayMac, BROADCAST].map((to) =>
          frame(from, `to ${ip} by ${to}`, { from: from.mac, to }, from.linkLocal, ip),
        ),
      );
      const friend = cast().foothold(`${tenant}/b`);
      const ethernet = { from: from.mac, to: friend.mac };
      const honest = frame(from, 'honest', ethernet, from.linkLocal, friend.linkLocal);
      const seen = await attack(from, frames, [honest]);
      expect(namesOf(seen.filter(({ place }) => !isPeer(place)))).toEqual([]);
      expect(namesOf(seen)).toContain(`${honest.name} @ ${friend.pod}`);
    });
  });

  it('a tenant gets nothing out by its interface on the default network', async () => {
    const tenant = cast().foothold('red/a');
    const insider = cast().foothold('plain/a');
    const mac = macFromIp(ofFamily(tenant.defaultAddresses, 4));
    const inDefault = ['red/b', 'blue/a'].map((key) => cast().foothold(key).defaultAddresses);
    const frames = FAMILIES.flatMap((family) => {
      const targets: (readonly [string, Ip])[] = [
        [insider.gatewayMac, outside(family)],
        [insider.gatewayMac, nodeAddress(NODE, family)],
        [insider.gatewayMac, ofFamily(insider.gateways, family)],
        [insider.gatewayMac, ofFamily(cast().foothold('plain/c').addresses, family)],
        [insider.mac, ofFamily(insider.addresses, family)],
        [nodeMac(NODE), outside(family)],
        ...cast()
          .masquerade(family)
          .map((ip) => [insider.gatewayMac, ip] as const),
        ...inDefault.map((own) => [macFromIp(ofFamily(own, 4)), ofFamily(own, family)] as const),
      ];
      const src = ofFamily(tenant.defaultAddresses, family);
      return targets.map(([to, dst]) =>
        frame({ ...tenant, device: 'eth0' }, `to ${dst} by ${to}`, { from: mac, to }, src, dst),
      );
    });
    expect(namesOf(await attack(tenant, frames))).toEqual(HONEST_OUT);
  });

  it('a host outside reaches no pod and no masquerade address, whoever it claims to be', async () => {
    const mac = (await cluster().outside(['cat', '/sys/class/net/eth0/address'])).stdout.trim();
    const frames = FAMILIES.flatMap((family) => intrusions(cast(), family, { from: mac, to: nodeMac(NODE) }));
    const honest = FAMILIES.map((family) =>
      fromOutside('honest', { from: mac, to: nodeMac(NODE) }, outside(family), nodeAddress(NODE, family)),
    );
    const seen = await sendAndWatch(cluster(), 'outside', frames, honest, cast().pods);
    expect(namesOf(seen.filter(({ place }) => place !== NODE))).toEqual([]);
    expect(namesOf(seen.filter(({ name }) => /^(as masquerade|honest)/.test(name)))).toEqual(
      FAMILIES.map((family) => `honest IPv${family} @ ${NODE}`),
    );
  });
};

const HONEST_OUT = FAMILIES.flatMap((family) => [NODE, 'outside'].map((place) => `honest IPv${family} @ ${place}`));

const towards = ({ mac, gatewayMac }: Foothold): Ethernet => ({ from: mac, to: gatewayMac });

/** With the family in its name. */
const frame = (
  { device }: Pick<Foothold, 'device'>,
  name: string,
  ethernet: Ethernet,
  src: Ip,
  dst: Ip,
): NamedFrame => ({
  name: `${name} IPv${ipFamily(dst)}`,
  device,
  build: (payload) => udp(ethernet, { src, dst, payload }),
});

const ownFor = ({ addresses }: Foothold, dst: Ip): Ip => ofFamily(addresses, ipFamily(dst));

const honestOut = (from: Foothold, family: Family): NamedFrame =>
  frame(from, 'honest', towards(from), ofFamily(from.addresses, family), outside(family));

const fromOutside = (name: string, ethernet: Ethernet, src: Ip, dst: Ip): NamedFrame =>
  frame({ device: 'eth0' }, name, ethernet, src, dst);

/** To pods and masquerade addresses from anybody's, and to the node from masquerade addresses. */
const intrusions = (cast: HostileCluster, family: Family, ethernet: Ethernet): readonly NamedFrame[] => {
  const masquerade = cast.masquerade(family);
  const sources = [
    outside(family),
    nodeAddress(NODE, family),
    nodeAddress(OTHER_NODE, family),
    ofFamily(cast.foothold('red/b').addresses, family),
    ...masquerade,
  ];
  const victims = HOSTILE_TENANTS.map((tenant) => cast.foothold(`${tenant}/a`));
  const addresses = victims.flatMap((victim) => [victim.addresses, victim.defaultAddresses]);
  const destinations = new Set([...addresses.map((of) => ofFamily(of, family)), ...masquerade]);
  return [
    ...sources.flatMap((src) => [...destinations].map((dst) => fromOutside(`${src} → ${dst}`, ethernet, src, dst))),
    ...masquerade.map((src) => fromOutside('as masquerade', ethernet, src, nodeAddress(NODE, family))),
  ];
};
