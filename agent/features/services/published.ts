/** Services as what is outside of OVN sees them: which ports of which addresses go to which network. */
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import { networkFamilies } from '../../../api/network.ts';
import type { ServicePort, ServiceProtocol } from '../../../api/service.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import type { RoutedNetworkFact, ServiceFact, SliceFact } from '../../model/facts.ts';
import { chooseEndpoints, type Targets, targetsOf } from '../../model/services/choice.ts';
import { networkSlices } from '../../model/services/endpoints.ts';
import { externalAddresses } from '../../model/services/external-addresses.ts';
import type { View } from '../../model/view.ts';
import { routedNetwork } from '../shared/local-network.ts';
import { localNode } from './local-node.ts';
import type { LocalNode } from './rules.ts';

export interface PublishedService {
  readonly service: ServiceFact;
  readonly network: RoutedNetworkFact;
  readonly ports: readonly PublishedPort[];
}

/** As far as it is this Service's, and no other one's. */
export interface PublishedPort extends Omit<ServicePort, 'nodePort'> {
  readonly nodePort: number | undefined;
  /** Also those of load balancers, of the families that the Service has. */
  readonly externalIps: readonly Ip[];
  /**
   * With `externalTrafficPolicy: Local`: endpoints that are this node itself, at most one of each family. What comes from outside
   * goes to them without OVN, which could not leave clients their addresses.
   */
  readonly hostEndpoints: readonly HostEndpoint[];
  /**
   * With the policy `Cluster`: of a family in which all endpoints are this node itself, one of them. What comes from outside to the node
   * port goes to it without OVN, too: there is nothing to choose, and OVS's userspace datapath drops packets that are recirculated as
   * often as on the path by the gateway router and back.
   */
  readonly soleEndpoints: readonly HostEndpoint[];
}

export interface HostEndpoint {
  readonly ip: Ip;
  readonly port: number;
}

/** As ovs-fields(7) and nft(8) write them. */
export const PROTOCOL_WORDS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const satisfies Record<
  ServiceProtocol,
  string
>;

/** Undefined for one that nobody outside can reach by this node. */
export const publishedService = (key: string, view: View): PublishedService | undefined => {
  const found = view.service(key);
  if (found === undefined || !isPublished(found)) return undefined;
  if (view.gateway(view.node)?.nodePortEnable !== true) return undefined;
  const network = localServiceNetwork(found, view);
  if (network === undefined) return undefined;
  const families = networkFamilies(network);
  // A family that the network does not have leads nowhere.
  const service = { ...found, clusterIps: found.clusterIps.filter((ip) => families.includes(ipFamily(ip))) };
  const node = localNode(network, view);
  const external = externalAddresses(service, network, view, node);
  const staysHere = service.externalTrafficPolicy === 'Local';
  const hasNodePort = service.ports.some(({ nodePort }) => nodePort !== undefined);
  const isAsked = staysHere || hasNodePort;
  const { slices } = isAsked ? networkSlices(network, view.serviceSlices(key), view) : { slices: [] };
  const ports = service.ports.map((port) => ({
    ...port,
    nodePort: external.nodePort(port),
    externalIps: external.ips(port).filter((ip) => clusterIpOf(service, ipFamily(ip)) !== undefined),
    hostEndpoints: staysHere ? hostEndpointsOf(slices, port, node) : [],
    soleEndpoints: staysHere ? [] : soleEndpointsOf(slices, port, node),
  }));
  return { service, network, ports };
};

/** Of a port, those that are this node and that a policy `Local` would send to: at most one of each family. */
export const hostEndpointsOf = (
  slices: readonly SliceFact[],
  port: Pick<ServicePort, 'name' | 'protocol'>,
  node: LocalNode,
): HostEndpoint[] => FAMILIES.flatMap((family) => hostEndpoint(targetsOf(slices, port, family), node));

const hostEndpoint = (targets: Targets, node: LocalNode): HostEndpoint[] => {
  if (targets.ready.length + targets.terminating.length === 0) return [];
  const { local } = chooseEndpoints(targets, node);
  if (local.length === 0) return [];
  const own = new Set(node.addresses);
  const found = local.find(({ endpoint }) => own.has(endpoint.ip));
  return found === undefined ? [] : [{ ip: found.endpoint.ip, port: found.port }];
};

const soleEndpointsOf = (
  slices: readonly SliceFact[],
  port: Pick<ServicePort, 'name' | 'protocol'>,
  node: LocalNode,
): HostEndpoint[] =>
  FAMILIES.flatMap((family) => {
    const { cluster } = chooseEndpoints(targetsOf(slices, port, family), node);
    const [first] = cluster;
    // Most Services end here, before they depend on the node's addresses.
    if (first === undefined || cluster.some(({ endpoint }) => (endpoint.node ?? node.name) !== node.name)) return [];
    // Of several, OVN chooses.
    const isOne = cluster.every(({ endpoint, port }) => endpoint.ip === first.endpoint.ip && port === first.port);
    return isOne && node.addresses.includes(first.endpoint.ip) ? [{ ip: first.endpoint.ip, port: first.port }] : [];
  });

const isPublished = ({ ports, externalIps, loadBalancerIps }: ServiceFact): boolean =>
  externalIps.length > 0 || loadBalancerIps.length > 0 || ports.some(({ nodePort }) => nodePort !== undefined);

export const clusterIpOf = ({ clusterIps }: Pick<ServiceFact, 'clusterIps'>, family: Family): Ip | undefined =>
  clusterIps.find((ip) => ipFamily(ip) === family);

/** Its network, where this node has it; undefined, too, while it is not known. */
export const localServiceNetwork = (service: ServiceFact | undefined, view: View): RoutedNetworkFact | undefined => {
  const name = service && serviceNetwork(service, view);
  return name === undefined ? undefined : routedNetwork(name, view)?.network;
};

/** Of its namespace's pods; undefined while that is not known. */
export const serviceNetwork = ({ namespace: name }: ServiceFact, view: View): string | undefined => {
  const namespace = view.namespace(name);
  if (namespace === undefined) return undefined;
  return namespace.wantsPrimaryNetwork ? view.primaryNad(name)?.network : DEFAULT_NETWORK_NAME;
};
