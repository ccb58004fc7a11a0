/** Where a Service is reached from outside: at what it asks for, less what is others'. */
import type { ClusterConfig } from '../../../api/cluster-config.ts';
import type { ServicePort } from '../../../api/service.ts';
import { cidrContainsIp } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';
import { externalAddressId, nodePortId, type ServiceFact, serviceKey } from '../facts.ts';
import type { View } from '../view.ts';
import { type EndpointNetwork, isReserved, type ReservedRanges, withPort } from './endpoints.ts';

export interface ExternalAddresses {
  /** `externalIPs` and addresses of load balancers. */
  readonly ips: (port: ServicePort) => readonly Ip[];
  readonly nodePort: (port: ServicePort) => number | undefined;
  readonly refusals: readonly Refusal[];
}

export interface Refusal {
  readonly reason: 'ExternalAddressNotAllowed' | 'ExternalAddressInUse';
  readonly message: string;
}

type AskingService = Pick<ServiceFact, 'namespace' | 'name' | 'ports' | 'externalIps' | 'loadBalancerIps' | 'badIps'>;

/** Of the agent's view, all that this needs. */
export interface ClaimView extends Pick<View, 'externalAddress' | 'isNodeAddress'> {
  readonly cluster: ReservedRanges & Pick<ClusterConfig, 'clusterSubnets'>;
}

export const externalAddresses = (
  service: AskingService,
  network: EndpointNetwork,
  view: ClaimView,
  node: { readonly addresses: readonly Ip[] },
): ExternalAddresses => {
  /**
   * A node's is for its own processes, node ports and, as everywhere, who administers the default network; who may write
   * Services in a tenant's namespace is not to take it from them.
   */
  const isNodes = (ip: Ip): boolean =>
    network.role !== 'default' && !service.loadBalancerIps.includes(ip) && view.isNodeAddress(ip);
  const asked = [...new Set([...service.externalIps, ...service.loadBalancerIps])];
  const isInside = (ip: Ip): boolean =>
    isReserved(view.cluster, ip) ||
    [...view.cluster.clusterSubnets, ...network.subnets].some(({ cidr }) => cidrContainsIp(cidr, ip));
  const outside = asked.filter((ip) => !isInside(ip) && !isNodes(ip));
  const rivalAt = (id: string): string | undefined => {
    const owner = view.externalAddress(id);
    return owner === serviceKey(service) ? undefined : owner;
  };
  const nodePortRival = ({ protocol, nodePort }: ServicePort): string | undefined =>
    nodePort === undefined ? undefined : rivalAt(nodePortId(protocol, nodePort));
  /** A node port is on all addresses of the node, whoever asks for one of them besides. */
  const rival = (ip: Ip, port: ServicePort): string | undefined => {
    const found = rivalAt(nodePortId(port.protocol, port.port));
    const isOnNode = found !== undefined && (view.isNodeAddress(ip) || node.addresses.includes(ip));
    return isOnNode ? found : rivalAt(externalAddressId(ip, port));
  };
  const isOverlay = (ip: Ip, { protocol, port }: ServicePort): boolean =>
    protocol === 'UDP' && port === GENEVE_PORT && (view.isNodeAddress(ip) || node.addresses.includes(ip));
  const nodePortOf = (port: ServicePort): number | undefined =>
    port.protocol === 'UDP' && port.nodePort === GENEVE_PORT ? undefined : port.nodePort;
  return {
    ips: (port) => outside.filter((ip) => rival(ip, port) === undefined && !isOverlay(ip, port)),
    nodePort: (port) => (nodePortRival(port) === undefined ? nodePortOf(port) : undefined),
    refusals: [
      ...notAllowed(asked.filter(isInside), 'inside the cluster, where it would capture the traffic of others'),
      ...notAllowed(asked.filter(isNodes), 'of a node, whose ports belong to node ports and its own processes'),
      ...notAllowed(service.badIps ?? [], 'no address'),
      ...service.ports.flatMap((port) => [
        ...overlay(outside.some((ip) => isOverlay(ip, port)) || nodePortOf(port) !== port.nodePort),
        ...outside.flatMap((ip) => inUse(service, `${withPort(ip, port.port)}/${port.protocol}`, rival(ip, port))),
        ...inUse(service, `node port ${port.nodePort}/${port.protocol}`, nodePortRival(port)),
      ]),
    ],
  };
};

const notAllowed = (ips: readonly string[], why: string): Refusal[] =>
  ips.length === 0 ? [] : [{ reason: 'ExternalAddressNotAllowed', message: `not reachable at ${listed(ips)}: ${why}` }];

/** What nodes send to each other for all networks: RFC 8926 section 3.3. */
export const GENEVE_PORT = 6081;

const overlay = (isAsked: boolean): Refusal[] =>
  isAsked
    ? [
        {
          reason: 'ExternalAddressNotAllowed',
          message: `not reachable at port ${GENEVE_PORT}/UDP of nodes, the port of their tunnels`,
        },
      ]
    : [];

/** What others call their Services is nobody's business. */
const inUse = ({ namespace }: AskingService, what: string, rival: string | undefined): Refusal[] => {
  if (rival === undefined) return [];
  const whose = rival.startsWith(`${namespace}/`) ? `Service ${rival}` : 'a Service of another namespace';
  return [{ reason: 'ExternalAddressInUse', message: `not reachable at ${what}: ${whose} has it` }];
};

/** There may be hundreds. */
const listed = (ips: readonly string[]): string =>
  ips.length <= MAX_LISTED
    ? ips.join(', ')
    : `${ips.slice(0, MAX_LISTED).join(', ')} and ${ips.length - MAX_LISTED} more`;

const MAX_LISTED = 3;
