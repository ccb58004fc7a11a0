/**
 * The entry of a pod's annotation for one of its networks. The agent calls this for the default network and layer 3, where
 * the address comes from the node's subnet; the cluster manager for layer 2 and localnets, where it comes from the
 * network's.
 */
import { addressOf, type Cidr, cidrFamily, hostRoute, type InterfaceAddress, networkOfInterface } from '../net/cidr.ts';
import type { PortKey } from '../net/ids.ts';
import type { Family, Ip } from '../net/ip.ts';
import { linkLocalFromMac, type Mac, macFromIp } from '../net/mac.ts';
import type { PodNetworkEntry, PodNetworkRole, PodRoute } from './annotations/pod-networks.ts';
import { type ClusterConfig, masqueradeAddresses } from './cluster-config.ts';
import { gatewayIp, gatewayMac, type Network, networkFamilies } from './network.ts';

export interface PodNetworkRequest {
  readonly network: Network;
  readonly cluster: ClusterConfig;
  readonly role: PodNetworkRole;
  /** The pod's addresses with the prefix length of their subnet; on layer 3 the node's, on layer 2 the network's. */
  readonly addresses: readonly InterfaceAddress[];
  /** A MAC that was asked for. Otherwise it derives from the first address. Needed when there are no addresses. */
  readonly mac?: Mac | undefined;
  /** The port's key; layer 2 only (`hasPortKeys`). */
  readonly tunnelId?: PortKey | undefined;
  /** Gateways that this attachment asked for (`default-route`): they replace the network's own. */
  readonly requestedGateways?: readonly Ip[] | undefined;
  /** Families whose default route another attachment of the pod asked for: this one then gives none. */
  readonly defaultRouteElsewhere?: readonly Family[] | undefined;
}

/** Routes and gateways by family in the order of `addresses`; the same request always gives the same entry. */
export const podNetworkEntry = (request: PodNetworkRequest): PodNetworkEntry => {
  const hops = request.addresses.map((address): Hop => {
    return { family: cidrFamily(address), subnet: networkOfInterface(address) };
  });
  return {
    ipAddresses: request.addresses,
    mac: request.mac ?? derivedMac(request.addresses),
    gatewayIps: gatewaysOf(request, hops),
    routes: hops.flatMap((hop) => routesOf(request, hop)),
    ipv6LlaGatewayIp: linkLocalGateway(request, hops),
    tunnelId: request.tunnelId,
    role: request.role,
  };
};

interface Hop {
  readonly family: Family;
  readonly subnet: Cidr;
}

/** Subnets of secondary layer-2 networks have none, and may be too small for one. */
const gatewayOf = ({ network }: PodNetworkRequest, { subnet }: Hop): Ip => gatewayIp(network, subnet);

const derivedMac = (addresses: readonly InterfaceAddress[]): Mac => {
  const first = [...addresses].sort((a, b) => cidrFamily(a) - cidrFamily(b))[0];
  if (first === undefined) throw new TypeError('a pod without addresses needs a MAC');
  return macFromIp(addressOf(first));
};

const gatewaysOf = (request: PodNetworkRequest, hops: readonly Hop[]): Ip[] => {
  const requested = request.requestedGateways ?? [];
  if (requested.length > 0 || request.role !== 'primary') return [...requested];
  const elsewhere = request.defaultRouteElsewhere ?? [];
  return hops.filter(({ family }) => !elsewhere.includes(family)).map((hop) => gatewayOf(request, hop));
};

const routesOf = (request: PodNetworkRequest, hop: Hop): PodRoute[] =>
  destinationsOf(request)
    .filter((dest) => cidrFamily(dest) === hop.family)
    .map((dest) => ({ dest, nextHop: gatewayOf(request, hop) }));

/** What has to leave through this interface even where another one has the default route. */
const destinationsOf = ({ network, cluster, role }: PodNetworkRequest): Cidr[] => {
  const own = network.topology === 'layer3' ? network.subnets.map(({ cidr }) => cidr) : [];
  if (network.role === 'secondary') return own;
  const services =
    role === 'primary' && network.role === 'default'
      ? [...cluster.serviceSubnets, ...masqueradeAddresses(cluster, 'serviceHairpin').map(hostRoute)]
      : role === 'primary'
        ? cluster.serviceSubnets
        : [];
  return [...own, ...services, ...network.joinSubnets];
};

/**
 * Every node's transit router answers as the gateway with the same MAC, so its link-local address is the same
 * everywhere: pods prefer it to what they hear in router advertisements of other nodes.
 */
const linkLocalGateway = ({ network, role }: PodNetworkRequest, hops: readonly Hop[]): Ip | undefined => {
  if (network.topology !== 'layer2' || role !== 'primary' || !networkFamilies(network).includes(6)) return undefined;
  const mac = gatewayMac(
    network,
    hops.map(({ subnet }) => subnet),
  );
  return mac === undefined ? undefined : linkLocalFromMac(mac);
};
