/** What an attacker knows of a cluster: everything. Plain data, so that the cases can be generated and tested without one. */
import type { Family, Ip } from '../../../net/ip.ts';

/** One address of each family. */
export type AddressPair = Readonly<Record<Family, Ip>>;

export interface Interface {
  readonly device: string;
  readonly mac: string;
  readonly addresses: AddressPair;
  readonly linkLocal: Ip;
}

/** A link of a pod. */
export interface PodInterface extends Interface {
  /** The node's end of it. */
  readonly nodeDevice: string;
}

export interface Foothold {
  /** `namespace/name` */
  readonly pod: string;
  readonly tenant: string;
  readonly node: string;
  readonly primary: PodInterface;
  /** On the default network. Absent in pods whose primary network that is. */
  readonly locked: PodInterface | undefined;
  readonly gateways: AddressPair;
  readonly gatewayMac: string;
}

export interface KnownNetwork {
  readonly tenant: string;
  /** On the node where attackers are. */
  readonly managementPort: Interface;
  /** What packets of the network have as source on `br-ex` and in the host. */
  readonly masquerade: Readonly<Record<Family, readonly Ip[]>>;
  readonly broadcast: Ip;
}

export interface KnownHost {
  readonly name: string;
  readonly mac: string;
  readonly addresses: AddressPair;
  readonly linkLocal: Ip;
}

export interface KnownService {
  /** `namespace/name` */
  readonly name: string;
  readonly tenant: string;
  readonly addresses: AddressPair;
  readonly port: number;
  readonly nodePort: number;
  readonly healthCheckPort: number | undefined;
  /** Pods that hear what is sent to it; none of it may. */
  readonly endpoints: readonly string[];
}

/** A port of a router on a switch between routers: join or transit. */
export interface KnownRouterPort {
  readonly name: string;
  readonly tenant: string;
  readonly mac: string;
  readonly addresses: readonly Ip[];
}

/** How OVN would address a port of another node in a Geneve header: ovn-architecture(7), "Tunnel Encapsulations". */
export interface KnownTunnelKey {
  readonly pod: string;
  /** The port is that of its interface on the default network. */
  readonly isLocked: boolean;
  readonly vni: number;
  readonly egress: number;
}

/** As it is to attackers on one of the nodes. */
export interface World {
  readonly footholds: readonly Foothold[];
  readonly networks: readonly KnownNetwork[];
  /** The first one is where attackers are. */
  readonly nodes: readonly [KnownHost, KnownHost];
  readonly outside: KnownHost;
  /** Of the default network on the other node: what locked interfaces there listen to. */
  readonly farManagementPort: Interface;
  readonly services: readonly KnownService[];
  /** Of both nodes. */
  readonly routerPorts: readonly KnownRouterPort[];
  readonly tunnelKeys: readonly KnownTunnelKey[];
}

export const DEFAULT_TENANT = 'plain';

/** @throws Error when there is no such pod */
export const footholdOf = ({ footholds }: Pick<World, 'footholds'>, pod: string): Foothold => {
  const found = footholds.find((one) => one.pod === pod);
  if (found === undefined) throw new Error(`there is no pod ${pod}`);
  return found;
};

/** Its pods where attackers are: the first attacks, and the next ones hear what may pass. */
export const nearPods = (
  { footholds, nodes: [{ name: node }] }: Pick<World, 'footholds' | 'nodes'>,
  tenant: string,
): readonly [Foothold, ...Foothold[]] => {
  const [first, ...more] = footholds.filter((one) => one.tenant === tenant && one.node === node);
  if (first === undefined) throw new Error(`${tenant} has no pod on ${node}`);
  return [first, ...more];
};

/** The one that hears what the first may send. @throws Error when it has only one */
export const friendOf = (world: Pick<World, 'footholds' | 'nodes'>, tenant: string): Foothold => {
  const [, friend] = nearPods(world, tenant);
  if (friend === undefined) throw new Error(`${tenant} has one pod on ${world.nodes[0].name}`);
  return friend;
};

/** @throws Error when it has none */
export const networkOf = ({ networks }: Pick<World, 'networks'>, tenant: string): KnownNetwork => {
  const found = networks.find((one) => one.tenant === tenant);
  if (found === undefined) throw new Error(`there is no network of ${tenant}`);
  return found;
};
