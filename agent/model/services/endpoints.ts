/** Which endpoints a Service has on its network, and which of them get what comes to a port. */
import type { ClusterConfig } from '../../../api/cluster-config.ts';
import type { ServicePort } from '../../../api/service.ts';
import { type Cidr, cidrContainsIp, parseCidr } from '../../../net/cidr.ts';
import type { Family, Ip } from '../../../net/ip.ts';
import type { EndpointFact, NetworkFact, SliceFact } from '../facts.ts';
import { targetsOf } from './choice.ts';

/** What of a network decides which addresses are its own. */
export type EndpointNetwork = Pick<NetworkFact, 'name' | 'role' | 'subnets'>;

/** Ranges by which networks and Services are distinguished: no endpoint is there. */
export type ReservedRanges = Pick<
  ClusterConfig,
  'serviceSubnets' | 'joinSubnets' | 'udnJoinSubnets' | 'transitSubnets' | 'masqueradeSubnets'
>;

/** Of the agent's view, all that decides which endpoints count. */
export interface EndpointView {
  readonly cluster: ReservedRanges;
  /** See `View`. */
  isNodeAddress(ip: Ip): boolean;
  /** See `View`. */
  isLockedAddress(ip: Ip): boolean;
}

/** The slices of a Service that count on its network, without the addresses that do not. */
export interface Backends {
  readonly slices: readonly SliceFact[];
  /** Addresses that a slice has and that this network's load balancers must not send to. */
  readonly refused: readonly Ip[];
  /** Those of them that are of pods with a primary network: the default network has none of their endpoints. */
  readonly locked: readonly Ip[];
}

/**
 * Slices are written by whoever may write them in the namespace, and OVN sends wherever they say, with the network's own
 * routers: only to addresses of the network. On the default network there are also the nodes and what is outside, and no
 * address that is part of how networks are kept apart, nor that of a pod which has only the kubelet's probes there: whatever it
 * opens of its own is at its own address. On others there are the nodes, where the cluster manager has found host-network pods.
 */
export const networkSlices = (network: EndpointNetwork, slices: readonly SliceFact[], view: EndpointView): Backends => {
  const isLockedHere = (ip: Ip): boolean => network.role === 'default' && view.isLockedAddress(ip);
  const isAllowed = (slice: SliceFact, { ip, node }: EndpointFact): boolean => {
    if (isLockedHere(ip)) return false;
    if (isInside(network, ip)) return true;
    if (isReserved(view.cluster, ip)) return false;
    return network.role === 'default' || (slice.madeFor === 'primary' && node !== undefined && view.isNodeAddress(ip));
  };
  const refused: Ip[] = [];
  const allowed = (slice: SliceFact, endpoints: readonly EndpointFact[]): readonly EndpointFact[] => {
    const counting = endpoints.filter((endpoint) => isAllowed(slice, endpoint));
    if (counting.length === endpoints.length) return endpoints;
    const kept = new Set(counting);
    refused.push(...endpoints.filter((endpoint) => !kept.has(endpoint)).map(({ ip }) => ip));
    return counting;
  };
  const counting = slices.filter((slice) => isFor(slice, network));
  return {
    slices: counting.map((slice) => ({
      ...slice,
      ready: allowed(slice, slice.ready),
      terminating: allowed(slice, slice.terminating),
    })),
    refused,
    locked: refused.filter(isLockedHere),
  };
};

/** `address:port` of those that are used where endpoints are chosen from the whole cluster, and for nobody in particular. */
export const backendsOf = (
  { slices }: Pick<Backends, 'slices'>,
  port: Pick<ServicePort, 'name' | 'protocol'>,
  family: Family,
): readonly string[] => {
  const { ready, terminating } = targetsOf(slices, port, family);
  return [
    ...new Set((ready.length > 0 ? ready : terminating).map(({ endpoint, port: at }) => withPort(endpoint.ip, at))),
  ];
};

/** Of a range by which networks are kept apart, or nobody's. */
export const isReserved = (cluster: ReservedRanges, ip: Ip): boolean =>
  reservedSubnets(cluster).some((cidr) => cidrContainsIp(cidr, ip));

/** As OVN writes it, and RFC 3986 section 3.2.2. */
export const withPort = (ip: Ip, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

/** Those of Kubernetes itself have the pods' addresses on the default network. */
const isFor = ({ madeFor, network: of }: SliceFact, { name, role }: EndpointNetwork): boolean => {
  if (of !== undefined) return role !== 'default' && of === name;
  return madeFor === 'any' || (role === 'default' && madeFor === 'default');
};

/** Of the network itself, on whichever node. */
export const isInside = ({ subnets }: Pick<EndpointNetwork, 'subnets'>, ip: Ip): boolean =>
  subnets.some(({ cidr }) => cidrContainsIp(cidr, ip));

const reservedSubnets = (cluster: ReservedRanges): readonly Cidr[] => {
  const known = reservedSubnetsOf.get(cluster);
  if (known !== undefined) return known;
  const subnets = [
    ...cluster.serviceSubnets,
    ...cluster.joinSubnets,
    ...cluster.udnJoinSubnets,
    ...cluster.transitSubnets,
    ...cluster.masqueradeSubnets,
    ...SPECIAL,
  ];
  reservedSubnetsOf.set(cluster, subnets);
  return subnets;
};

/** Asked for with every endpoint, and the same for as long as the settings live. */
const reservedSubnetsOf = new WeakMap<ReservedRanges, readonly Cidr[]>();

/** Nobody's, the host's own, of a link, and of groups. RFC 6890; an API server takes none of them, a file may hold them. */
const SPECIAL = [
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
  ...['::/128', '::1/128', 'fe80::/10', 'ff00::/8'],
].map(parseCidr);
