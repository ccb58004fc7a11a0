/**
 * Who attacks: from the first of the world's nodes, or, from outside, that node. Not here are packet sockets on br-ex and
 * eth0, where hosts may send what they like, and on pods' links (docs/security.md); nor the kubelet, of which test/oracles/reachability asks.
 */
import { hostPodOf } from '../cast.ts';
import {
  type AddressPair,
  DEFAULT_TENANT,
  type Foothold,
  friendOf,
  type Interface,
  nearPods,
  networkOf,
  type World,
} from '../world.ts';

export const SOURCES = [
  'pod of a layer-3 network',
  'pod of a layer-2 network',
  'locked interface, layer 3',
  'locked interface, layer 2',
  'pod of the default network',
  'process of root',
  'process of another user',
  'host-network pod of a tenant',
  'host-network pod of no tenant',
  'packet socket on the default management port',
  'packet socket on a tenant’s management port',
  // Last: what it says of neighbours it says to the underlay, whose nodes believe it for a while.
  'host outside',
] as const;
export type SourceName = (typeof SOURCES)[number];

/** `frames`: byte by byte, by a packet socket. `datagrams`: by a UDP socket, whose headers are the kernel's. */
export type Means = 'frames' | 'datagrams';

export interface Attacker {
  readonly name: SourceName;
  readonly means: Means;
  /** Of the sender: `namespace/name` of a pod, a node, or `outside`. */
  readonly place: string;
  readonly uid?: number;
  /** The network that it may talk to; undefined: none, as of locked interfaces, and of hosts. */
  readonly tenant: string | undefined;
  /** Absent of sockets, which the kernel routes. */
  readonly link: (Interface & { readonly nodeDevice?: string }) | undefined;
  readonly gateways: AddressPair | undefined;
  readonly routerMac: string | undefined;
  readonly managementMac: string | undefined;
  /** Another pod of its network, on the same node: it hears what may pass. */
  readonly peer: Foothold | undefined;
}

/** RFC 6056 has it by chance. 65534 is nobody's own. */
const NOBODY = 65_534;

export const findAttacker = (world: World, name: SourceName): Attacker => FINDERS[name](world, name);

type Finder = (world: World, name: SourceName) => Attacker;

const inNetwork =
  (tenant: string): Finder =>
  (world, name) => {
    const [foothold] = nearPods(world, tenant);
    return {
      name,
      means: 'frames',
      place: foothold.pod,
      tenant,
      link: foothold.primary,
      gateways: foothold.gateways,
      routerMac: foothold.gatewayMac,
      managementMac: networkOf(world, tenant).managementPort.mac,
      peer: friendOf(world, tenant),
    };
  };

/** On the switch of the default network: its router and its management port are next door. */
const lockedOf =
  (tenant: string): Finder =>
  (world, name) => {
    const [insider] = nearPods(world, DEFAULT_TENANT);
    const [{ locked, pod }] = nearPods(world, tenant);
    return { ...inNetwork(DEFAULT_TENANT)(world, name), place: pod, tenant: undefined, link: locked, peer: insider };
  };

const onNode =
  (place: (node: string) => string, tenant?: string, uid?: number): Finder =>
  ({ nodes: [{ name: node }] }, name) => ({
    name,
    means: 'datagrams',
    place: place(node),
    ...(uid !== undefined && { uid }),
    tenant,
    link: undefined,
    gateways: undefined,
    routerMac: undefined,
    managementMac: undefined,
    peer: undefined,
  });

const outsideHost: Finder = (world, name) => ({
  ...onNode(() => 'outside')(world, name),
  means: 'frames',
  link: { ...world.outside, device: 'eth0' },
  routerMac: world.nodes[0].mac,
});

/** Of root, who is a process of the node: nothing that it writes there may get anywhere. */
const onManagementPort =
  (tenant: string): Finder =>
  (world, name) => ({
    ...inNetwork(tenant)(world, name),
    ...{ place: world.nodes[0].name, tenant: undefined, link: networkOf(world, tenant).managementPort },
  });

const itself = (node: string): string => node;

const FINDERS: Readonly<Record<SourceName, Finder>> = {
  'pod of a layer-3 network': inNetwork('red'),
  'pod of a layer-2 network': inNetwork('green'),
  'locked interface, layer 3': lockedOf('red'),
  'locked interface, layer 2': lockedOf('green'),
  'pod of the default network': inNetwork(DEFAULT_TENANT),
  'host outside': outsideHost,
  'process of root': onNode(itself),
  'process of another user': onNode(itself, undefined, NOBODY),
  'host-network pod of a tenant': onNode((node) => hostPodOf('blue', node), 'blue'),
  'host-network pod of no tenant': onNode((node) => hostPodOf(DEFAULT_TENANT, node)),
  'packet socket on the default management port': onManagementPort(DEFAULT_TENANT),
  'packet socket on a tenant’s management port': onManagementPort('red'),
};

export const meansOf = (name: SourceName): Means => (/^(process|host-network)/.test(name) ? 'datagrams' : 'frames');

/** On a link that takes nothing of it. */
export const isPacketSocket = (name: SourceName): boolean => name.startsWith('packet socket');

export const isLocked = (name: SourceName): boolean => name.startsWith('locked');

/** @throws Error of sockets, which have no link of their own */
export const linkOf = ({ name, link }: Attacker): Interface => {
  if (link === undefined) throw new Error(`a ${name} has no link`);
  return link;
};
