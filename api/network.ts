/**
 * A network as every program of ours sees it: the cluster's default network or a user-defined one, with all defaults
 * filled in. It is derived from a NAD's configuration and the cluster's, nothing else.
 */
import {
  addressAt,
  addressOf,
  type Cidr,
  cidrContains,
  cidrFamily,
  cidrSize,
  type InterfaceAddress,
  interfaceAddress,
  prefixLength,
} from '../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../net/ip.ts';
import { type Mac, macFromIp } from '../net/mac.ts';
import { type ClusterConfig, DEFAULT_HOST_PREFIX } from './cluster-config.ts';
import { DEFAULT_NETWORK_NAME } from './names.ts';
import type { NetConf } from './net-conf.ts';

export type Topology = 'layer2' | 'layer3' | 'localnet';
/** `default` is the cluster's default network; a namespace has at most one `primary` one. */
export type NetworkRole = 'default' | 'primary' | 'secondary';

export interface NetworkSubnet {
  readonly cidr: Cidr;
  /** Prefix length of the part that each node gets; only on layer-3 networks, and always there. */
  readonly hostPrefix?: number;
}

/** What a localnet's pods are on, outside of the cluster. */
export interface PhysicalNetwork {
  /** As `ovn-bridge-mappings` of the nodes has it. */
  readonly name: string;
  /** 1 to 4094; absent: untagged. */
  readonly vlanId?: number | undefined;
}

export interface Network {
  readonly name: string;
  readonly topology: Topology;
  /** Of a localnet, and always there. */
  readonly physical?: PhysicalNetwork | undefined;
  readonly role: NetworkRole;
  /** In the order of the configuration; empty for a secondary layer-2 network, and a localnet, without IPAM. */
  readonly subnets: readonly NetworkSubnet[];
  /** One per family; empty on secondary networks. */
  readonly joinSubnets: readonly Cidr[];
  /** Of the transit router of a primary layer-2 network (families of `subnets`), or of the transit switch otherwise. */
  readonly transitSubnets: readonly Cidr[];
  readonly mtu: number;
  /** Parts of the subnets that no pod gets an address of: they are somebody else's. */
  readonly excludedSubnets: readonly Cidr[];
  /** Parts of the subnets that pods get an address of only when they ask for it. */
  readonly reservedSubnets: readonly Cidr[];
  /** Parts of the subnets that gateways and management ports have their addresses in, and no pod. */
  readonly infrastructureSubnets: readonly Cidr[];
  /** Instead of each subnet's first address; at most one per family. */
  readonly defaultGatewayIps: readonly Ip[];
}

export const defaultNetwork = (config: ClusterConfig): Network => ({
  name: DEFAULT_NETWORK_NAME,
  topology: 'layer3',
  role: 'default',
  subnets: config.clusterSubnets,
  joinSubnets: config.joinSubnets,
  transitSubnets: config.transitSubnets,
  mtu: config.mtu,
  excludedSubnets: [],
  reservedSubnets: [],
  infrastructureSubnets: [],
  defaultGatewayIps: [],
});

export const networkOfNetConf = (conf: NetConf, config: ClusterConfig): Network => ({
  name: conf.name,
  topology: conf.topology,
  ...(conf.topology === 'localnet' && {
    physical: {
      name: conf.physicalNetworkName ?? conf.name,
      ...(conf.vlanId !== undefined && { vlanId: conf.vlanId }),
    },
  }),
  role: conf.role,
  subnets: conf.topology === 'layer3' ? conf.subnets.map(withHostPrefix) : conf.subnets.map(({ cidr }) => ({ cidr })),
  joinSubnets: conf.role === 'primary' ? onePerFamily(conf.joinSubnets, config.udnJoinSubnets) : [],
  transitSubnets: transitSubnetsOf(conf, config),
  mtu: conf.mtu ?? (conf.topology === 'localnet' ? localnetMtu(config) : config.mtu),
  excludedSubnets: conf.excludeSubnets,
  reservedSubnets: conf.reservedSubnets,
  infrastructureSubnets: conf.infrastructureSubnets,
  defaultGatewayIps: conf.defaultGatewayIps,
});

/** Where nothing else is said, that of what the tunnels go through: a localnet has none to leave room for. */
export const localnetMtu = ({ mtu }: Pick<ClusterConfig, 'mtu'>): number => mtu + TUNNEL_OVERHEAD;

/** Bytes, of Geneve over either family. */
const TUNNEL_OVERHEAD = 100;

/** The families of a network's pods, IPv4 first; empty without IPAM. */
export const networkFamilies = ({ subnets }: Pick<Network, 'subnets'>): Family[] =>
  FAMILIES.filter((family) => subnets.some(({ cidr }) => cidrFamily(cidr) === family));

/** Whether pods have their addresses from the cluster manager: all are neighbours, wherever they are. Of layer 3 each node has a part. */
export const hasClusterIpam = ({ topology }: Pick<Network, 'topology'>): boolean => topology !== 'layer3';

/** Whether its pods' switch is on a router: the first addresses of the subnets are not pods' then. A secondary layer-2 network has none. */
export const hasGateway = ({ role, topology }: Pick<Network, 'role' | 'topology'>): boolean =>
  role !== 'secondary' || topology === 'layer3';

/** Whether a port has the same tunnel key on every node: of a physical network no node knows another one's ports. */
export const hasPortKeys = ({ topology }: Pick<Network, 'topology'>): boolean => topology === 'layer2';

/** What decides which addresses are the network's own. */
export type OwnAddresses = Pick<Network, 'defaultGatewayIps' | 'infrastructureSubnets'>;

/**
 * The gateway of pods in `subnet`, which is a node's part on layer 3 and the network's on layer 2: the one that was asked
 * for, or the first address of the infrastructure subnets, or of the subnet.
 */
export const gatewayIp = (network: OwnAddresses, subnet: Cidr): Ip =>
  network.defaultGatewayIps.find((ip) => ipFamily(ip) === cidrFamily(subnet)) ??
  infrastructureIps(network, subnet)[0] ??
  addressAt(subnet, 1);

/**
 * The management port's address in `subnet`: the next one of the infrastructure subnets, or the subnet's second, or its
 * first where the gateway has the second.
 */
export const managementIp = (network: OwnAddresses, subnet: Cidr): Ip => {
  const gateway = gatewayIp(network, subnet);
  const second = addressAt(subnet, 2);
  const other = infrastructureIps(network, subnet).find((ip) => ip !== gateway);
  return other ?? (gateway === second ? addressAt(subnet, 1) : second);
};

/** MAC of a management port with an address in each of `subnets`: it derives from the IPv4 one where there is one. */
export const managementMac = (network: OwnAddresses, subnets: readonly Cidr[]): Mac | undefined => {
  const first = [...subnets].sort((a, b) => cidrFamily(a) - cidrFamily(b))[0];
  return first === undefined ? undefined : macFromIp(managementIp(network, first));
};

/** MAC of the router port that is the gateway of all `subnets`: it derives from the IPv4 gateway where there is one. */
export const gatewayMac = (network: OwnAddresses, subnets: readonly Cidr[]): Mac | undefined => {
  const first = [...subnets].sort((a, b) => cidrFamily(a) - cidrFamily(b))[0];
  return first === undefined ? undefined : macFromIp(gatewayIp(network, first));
};

/** The default network's switches have it beside their ports', to answer for other nodes: ovn-nb(5), `arp_proxy`. */
export const ARP_PROXY_MAC = macFromIp(parseIp('169.254.1.1'));

/** The addresses of `gatewayIp` with the subnet's prefix length, as router ports have them. */
export const gatewayAddress = (network: OwnAddresses, subnet: Cidr): InterfaceAddress =>
  interfaceAddress(gatewayIp(network, subnet), prefixLength(subnet));

/** The first two addresses of every infrastructure subnet; one of two addresses or fewer has no network address. */
const infrastructureIps = ({ infrastructureSubnets }: OwnAddresses, subnet: Cidr): Ip[] => {
  const ends = [addressOf(subnet), ...(cidrFamily(subnet) === 4 ? [addressAt(subnet, cidrSize(subnet) - 1n)] : [])];
  return infrastructureSubnets
    .filter((part) => cidrContains(subnet, part))
    .flatMap((part) => {
      const size = cidrSize(part);
      const offsets = size > 2n ? [1n, 2n] : [0n, 1n].slice(0, Number(size));
      return offsets.map((offset) => addressAt(part, offset));
    })
    .filter((ip) => !ends.includes(ip));
};

const withHostPrefix = ({ cidr, hostPrefix }: NetworkSubnet): NetworkSubnet => ({
  cidr,
  hostPrefix: hostPrefix ?? DEFAULT_HOST_PREFIX[cidrFamily(cidr)],
});

const transitSubnetsOf = (conf: NetConf, config: ClusterConfig): readonly Cidr[] => {
  if (conf.topology === 'layer3') return config.transitSubnets;
  if (conf.role !== 'primary') return [];
  const families = networkFamilies(conf);
  return onePerFamily(conf.transitSubnets, config.transitSubnets).filter((cidr) => families.includes(cidrFamily(cidr)));
};

const onePerFamily = (preferred: readonly Cidr[], fallback: readonly Cidr[]): Cidr[] =>
  FAMILIES.flatMap((family) => {
    const isFamily = (cidr: Cidr): boolean => cidrFamily(cidr) === family;
    return preferred.find(isFamily) ?? fallback.find(isFamily) ?? [];
  });
