/**
 * What a pod may not send with headers that nodes go by: of a tunnel, to a node; to its management port, around the router; and what
 * another network has sent already, where nothing in it can be changed.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { nodeAddress, outside, pings } from '../networks/north-south.ts';
import { type Ethernet, echoRequest, ipBytes, ipPacket, udp, udpFragment } from '../packets/frames.ts';
import {
  type Foothold,
  type HostileCluster,
  type NamedFrame,
  NODE,
  namesOf,
  neighbourMac,
  OTHER_NODE,
  ofFamily,
  type Sighting,
  sendAndWatch,
  type Tenant,
} from './attacks.ts';

const ATTACKERS = ['red', 'green', 'plain'] as const satisfies readonly Tenant[];
const TUNNEL_PORTS = [6081, 4789] as const;

const towardsGateway = ({ mac, gatewayMac }: Foothold): Ethernet => ({ from: mac, to: gatewayMac });

const datagram = (from: Foothold, name: string, dst: Ip, dstPort?: number, to = from.gatewayMac): NamedFrame => ({
  name: `${name} ${dst}${dstPort === undefined ? '' : ` port ${dstPort}`}`,
  device: from.device,
  build: (payload) => {
    const src = ofFamily(from.addresses, ipFamily(dst));
    return udp({ from: from.mac, to }, { src, dst, payload, ...(dstPort === undefined ? {} : { dstPort }) });
  },
});

const toOutside = (from: Foothold): readonly NamedFrame[] =>
  FAMILIES.map((family) => datagram(from, 'honest', outside(family)));

const isHonest = ({ name }: Pick<NamedFrame, 'name'>): boolean => name.startsWith('honest');

/** Call it where tests are declared. @param cast what gives the pods, once tests run */
export const hostileTunnels = (cluster: () => Sandbox, cast: () => HostileCluster): void => {
  let isLocal = false;
  const watch = (from: Foothold, frames: readonly NamedFrame[], honest: readonly NamedFrame[]) =>
    sendAndWatch(
      cluster(),
      from.pod,
      frames,
      honest,
      cast().pods.filter((key) => key !== from.pod),
    );

  beforeAll(async () => {
    const chains = await cluster().node(NODE, ['nft', 'list', 'chains', 'inet']);
    isLocal = chains.stdout.includes('ovn-kube-local-gw-masq');
    const pods = ['red/a', 'blue/a', 'green/a', 'plain/a'].map((name) => cast().foothold(name).pod);
    const known = pods.flatMap((key) => FAMILIES.map((family) => pings(cluster(), key, outside(family))));
    await Promise.all(known);
  });

  describe.each(ATTACKERS)('a pod of %s', (tenant) => {
    const attacker = (): Foothold => cast().foothold(`${tenant}/a`);

    it('reaches no tunnel of a node', async () => {
      const from = attacker();
      const frames = FAMILIES.flatMap((family) =>
        [NODE, OTHER_NODE].flatMap((node) =>
          TUNNEL_PORTS.map((port) => datagram(from, `to ${node}`, nodeAddress(node, family), port)),
        ),
      );
      const firstTo = (name: string, dst: Ip, id: number): readonly NamedFrame[] =>
        ([0, 1] as const).map((index) => ({
          name: index === 0 ? name : 'later fragment',
          device: from.device,
          build: (payload) =>
            udpFragment(
              towardsGateway(from),
              { src: ofFamily(from.addresses, 4), dst, dstPort: 6081, payload },
              { id, index },
            ),
        }));
      const [first, later] = firstTo('honest fragment', outside(4), 77);
      // A tunnel of somebody else outside, and another port of a node.
      const honest = FAMILIES.flatMap((family) => [
        datagram(from, 'honest', outside(family), 6081),
        datagram(from, 'honest', nodeAddress(OTHER_NODE, family), 6082),
      ]);
      const attacks = [...frames, ...firstTo('first fragment', nodeAddress(OTHER_NODE, 4), 78)];
      const seen = await watch(from, [...attacks, ...(later ? [later] : [])], [...honest, ...(first ? [first] : [])]);
      expect(namesOf(seen.filter((one) => !isHonest(one) && one.name !== 'later fragment'))).toEqual([]);
    });

    it('gets nowhere by the management port of its network', async () => {
      const from = attacker();
      const host = parseIp(ofFamily(from.gateways, 4).replace(/\.1$/, '.2'));
      const mac = await neighbourMac(cluster(), from.pod, from.device, host);
      const { stdout } = await cluster().node(NODE, ['ip', '-6', '-br', 'addr', 'show', 'br-ex', 'scope', 'link']);
      const linkLocal = parseIp(/fe80::[0-9a-f:]+/.exec(stdout)?.[0] ?? '');
      const targets = FAMILIES.flatMap((family) => [
        ...[outside(family), nodeAddress(OTHER_NODE, family)],
        parseIp(family === 4 ? '10.96.0.1' : 'fd00:10:96::1'),
      ]);
      const stranger: NamedFrame = {
        name: `from ${from.linkLocal} to ${linkLocal}`,
        device: from.device,
        build: (payload) => udp({ from: from.mac, to: mac }, { src: from.linkLocal, dst: linkLocal, payload }),
      };
      const frames = [...targets.map((dst) => datagram(from, 'by the port', dst, undefined, mac)), stranger];
      const seen = await watch(from, frames, toOutside(from));
      // In local gateway mode it is the way out of the default network's pods, with the node's address; another node answers
      // that nobody listens, and quotes it.
      const isWayOut = ({ bytes }: (typeof seen)[number]): boolean =>
        tenant === 'plain' && isLocal && (isFrom(NODE, bytes) || isFrom(OTHER_NODE, bytes));
      const leaving = seen.filter((one) => !isHonest(one) && !isWayOut(one));
      expect(namesOf(leaving)).toEqual([]);
    });
  });

  describe('protocols without ports', () => {
    const same = (from: Foothold, name: string, family: Family): readonly NamedFrame[] => {
      const ends = { src: ofFamily(from.addresses, family), dst: outside(family) };
      const frame = (what: string, build: NamedFrame['build']): NamedFrame => ({
        name: `${name} ${what} IPv${family}`,
        device: from.device,
        build,
      });
      const header = Buffer.from([0, 0, 8, 0]);
      const spi = Buffer.from([0, 0, 0x12, 0x34, 0, 0, 0, 1]);
      const raw = (protocol: number, start: Buffer, payload: string): Buffer =>
        ipPacket(towardsGateway(from), { ...ends, protocol, body: Buffer.concat([start, Buffer.from(payload)]) });
      return [
        frame('echo', (payload) => echoRequest(towardsGateway(from), { ...ends, id: 0x7777, payload })),
        frame('GRE', (payload) => raw(47, header, payload)),
        frame('ESP', (payload) => raw(50, spi, payload)),
        frame('253', (payload) => raw(253, Buffer.alloc(0), payload)),
      ];
    };

    it('leave with the node’s address or not at all, where several networks send the same', async () => {
      const [first, ...others] = ['red/a', 'blue/a', 'green/a'].map((name) => cast().foothold(name));
      if (first === undefined) throw new Error('there is no pod');
      const own = FAMILIES.flatMap((family) => same(first, 'honest', family));
      const seen: Sighting[] = [...(await watch(first, [], own))];
      for (const from of others) {
        const frames = FAMILIES.flatMap((family) => same(from, from.pod, family));
        seen.push(...(await watch(from, frames, toOutside(from))));
      }
      const left = seen.filter(({ place, isOutgoing }) => place === 'outside' || (place === NODE && isOutgoing));
      expect(left.length).toBeGreaterThan(own.length);
      expect(namesOf(left.filter(({ bytes }) => !isFrom(NODE, bytes)))).toEqual([]);
    });
  });
};

/** Its source is the node's address. */
const isFrom = (node: string, bytes: Buffer): boolean => {
  const isIpv4 = bytes.readUInt16BE(12) === 0x0800;
  const source = isIpv4 ? bytes.subarray(26, 30) : bytes.subarray(22, 38);
  return source.equals(ipBytes(nodeAddress(node, isIpv4 ? 4 : 6)));
};
