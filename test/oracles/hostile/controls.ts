/** Frames of the same makers that have to arrive: without them, silence would prove nothing. Pure. */
import { PROCESS_MARK } from '../../../agent/model/registry/marks.ts';
import { FAMILIES, type Family, type Ip } from '../../../net/ip.ts';
import type { Shot } from './cases.ts';
import { SERVED_PORT } from './cases.ts';
import { tunnelFrames, tunnelPayload, tunnelPort } from './dimensions/encapsulations.ts';
import { PROTOCOLS, type Protocol } from './dimensions/protocols.ts';
import { type Attacker, isLocked, isPacketSocket, linkOf } from './dimensions/sources.ts';
import { indexOf } from './wire/marker.ts';
import { DEFAULT_TENANT, type Foothold, footholdOf, friendOf, type KnownTunnelKey, type World } from './world.ts';

export interface Control {
  readonly id: string;
  readonly place: string;
  readonly uid?: number | undefined;
  /** Who has to hear it. */
  readonly heardAt: string;
  readonly shoot: (marker: Buffer) => Shot;
}

/** Sent between the attacks again and again: a busy datapath may lose frames. */
export const beatOf = (world: World, attacker: Attacker): Control => {
  const base = { id: `beat of a ${attacker.name}`, place: attacker.place, uid: attacker.uid };
  if (attacker.means === 'datagrams' || isPacketSocket(attacker.name)) {
    const { pod, primary } = friendOf(world, DEFAULT_TENANT);
    const [address, port] = [primary.addresses[4], SERVED_PORT];
    return { ...base, heardAt: pod, shoot: (payload) => ({ address, port, scope: undefined, payload }) };
  }
  if (attacker.tenant === undefined && !isLocked(attacker.name)) {
    const [node] = world.nodes;
    return { ...base, heardAt: node.name, shoot: udpTo(attacker, node.mac, node.addresses[4]) };
  }
  // Of a locked interface nobody may hear anything: the pod's other one is asked, in the same breath.
  const own = footholdOf(world, attacker.place);
  const friend = friendOf(world, own.tenant);
  const link = { ...attacker, link: own.primary };
  return { ...base, heardAt: friend.pod, shoot: udpTo(link, friend.primary.mac, friend.primary.addresses[4]) };
};

const udpTo = (attacker: Attacker, to: string, dst: Foothold['primary']['addresses'][4]) => {
  const { device, mac, addresses } = linkOf(attacker);
  const [udp] = PROTOCOLS;
  return (marker: Buffer): Shot => {
    const intent = { ethernet: { from: mac, to }, src: addresses[4], dst, port: SERVED_PORT, marker };
    return { device, frames: udp === undefined ? [] : [udp.build(intent)] };
  };
};

/** Each protocol to the next pod of the attacker's network. The default network's are those of locked interfaces, too. */
export const protocolControls = (attacker: Attacker): readonly Control[] => {
  const { peer, link, place, name } = attacker;
  if (peer === undefined || link === undefined || isLocked(name) || isPacketSocket(name)) return [];
  return FAMILIES.flatMap((family) =>
    PROTOCOLS.filter((one) => isHeard(one, attacker) && one.families.includes(family)).map(
      (protocol): Control => ({
        id: `${name} → its peer, IPv${family} ${protocol.name}`,
        place,
        heardAt: peer.pod,
        shoot: (marker) => {
          const ethernet = { from: link.mac, to: peer.primary.mac };
          const [src, dst] = [link.addresses[family], peer.primary.addresses[family]];
          return { device: link.device, frames: [protocol.build({ ethernet, src, dst, port: SERVED_PORT, marker })] };
        },
      }),
    ),
  );
};

const isHeard = ({ reachesPeers, isAnsweredByDefault = false }: Protocol, { tenant }: Attacker): boolean =>
  reachesPeers === true && !(isAnsweredByDefault && tenant === DEFAULT_TENANT);

/**
 * Which entry points lead anywhere. `near`: those of the default network, to pods of the node that is asked; local gateway
 * mode without VRFs has no others.
 */
export type EntryPoints = 'all' | 'near';

/**
 * Entry points of the node that is asked: each leads to the pods behind it, whoever asks. From outside that is the one next
 * to the attacker.
 */
export const entryPointControls = (
  world: World,
  attacker: Attacker,
  served: EntryPoints = 'all',
): readonly Control[] => {
  if (isLocked(attacker.name) || isPacketSocket(attacker.name)) return [];
  const isOfTenant = attacker.tenant !== undefined && attacker.tenant !== DEFAULT_TENANT && attacker.peer !== undefined;
  if (served === 'near' && isOfTenant) return [];
  const services = world.services.filter(
    ({ tenant, healthCheckPort }) => served === 'all' || (tenant === DEFAULT_TENANT && healthCheckPort !== undefined),
  );
  const node = attacker.name === 'host outside' ? world.nodes[0] : world.nodes[1];
  return FAMILIES.flatMap((family) =>
    services.flatMap(({ name, endpoints, nodePort, healthCheckPort }) => {
      const [first] = endpoints;
      const near = endpoints.find((pod) => footholdOf(world, pod).node === node.name);
      const heardAt = healthCheckPort === undefined ? first : near;
      const to = (port: number, by: string, protocol: string): Control => ({
        id: `${attacker.name} → ${by} of ${name} at ${node.name}, IPv${family}`,
        ...{ place: attacker.place, uid: attacker.uid, heardAt: by === 'node port' ? (heardAt ?? '') : node.name },
        shoot: shotTo(attacker, { ip: node.addresses[family], family, port, protocol }),
      });
      return [
        ...(heardAt === undefined ? [] : [to(nodePort, 'node port', 'udp')]),
        ...(healthCheckPort === undefined ? [] : [to(healthCheckPort, 'health check', 'tcp')]),
      ];
    }),
  );
};

interface Aimed {
  readonly ip: Ip;
  readonly family: Family;
  readonly port: number;
  readonly protocol: string;
}

const shotTo =
  (attacker: Attacker, { ip, family, port, protocol: name }: Aimed) =>
  (marker: Buffer): Shot => {
    if (attacker.means === 'datagrams') return { address: ip, port, scope: undefined, payload: marker };
    const { device, mac, addresses } = linkOf(attacker);
    const ethernet = { from: mac, to: attacker.routerMac ?? '' };
    // Another one each time: what conntrack has noted of an attack is not about it.
    const srcPort = 20_000 + (indexOf(marker) % 20_000);
    const intent = { ethernet, src: addresses[family], dst: ip, port, srcPort, marker };
    return { device, frames: PROTOCOLS.filter((one) => one.name === name).map((one) => one.build(intent)) };
  };

/** With the right key, what a packet in the name of a node has in it comes to the pod. */
export const tunnelControl = (world: World, key: KnownTunnelKey): Control => {
  const [impersonated, node] = world.nodes;
  return {
    id: `underlay → ${key.isLocked ? 'the locked interface of ' : ''}${key.pod}, geneve`,
    place: 'outside',
    heardAt: key.pod,
    shoot: (marker) => {
      const ethernet = { from: world.outside.mac, to: node.mac };
      const outer = { ethernet, src: impersonated.addresses[4], dst: node.addresses[4], port: 0, marker };
      return {
        device: 'eth0',
        frames: tunnelFrames(world, { encapsulation: 'geneve', key, family: 4, marker }, outer),
      };
    },
  };
};

/**
 * The same from a process of the attackers' node, with the mark of what processes put into tunnels: nothing else is wrong with its packets, and
 * nothing else stops those without. It takes CAP_NET_RAW.
 */
export const markedControl = (world: World, key: KnownTunnelKey): Control => {
  const [attacker, { addresses }] = world.nodes;
  const encapsulation = 'geneve';
  return {
    id: `marked process → ${key.isLocked ? 'the locked interface of ' : ''}${key.pod}`,
    place: attacker.name,
    heardAt: key.pod,
    shoot: (marker) => ({
      // Where the other node's tunnels end: ADR 25.
      ...{ address: addresses[4], port: tunnelPort(encapsulation), scope: undefined, mark: PROCESS_MARK },
      payload: tunnelPayload(world, { encapsulation, key, family: 4, marker }),
    }),
  };
};
