/** What a network's gateway on this node is made from, put together once. */
import { networkMasqueradeAddresses } from '../../../../api/masquerade.ts';
import { networkFamilies } from '../../../../api/network.ts';
import { type LinkAddresses, nodeJoinAddresses, nodeLinkAddresses } from '../../../../api/network-keys.ts';
import { type Cidr, cidrFamily, type InterfaceAddress } from '../../../../net/cidr.ts';
import type { NodeId } from '../../../../net/ids.ts';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { GatewayFact, NodeFact, RoutedNetworkFact } from '../../../model/facts.ts';
import type { Diagnostic } from '../../../model/fragment.ts';
import { gatewayRouterName } from '../../../model/names.ts';
import type { View } from '../../../model/view.ts';
import { ofNetworkFamilies, routedNetwork } from '../local-network.ts';
import { networkIds } from './external-ids.ts';

export interface GatewaySite {
  readonly network: RoutedNetworkFact;
  /** See `RoutedNetwork`. */
  readonly subnets: readonly Cidr[];
  readonly node: NodeFact & { readonly id: NodeId; readonly chassisId: string };
  readonly gateway: GatewayFact;
  /** Name of the gateway router. */
  readonly router: string;
  readonly externalIds: Readonly<Record<string, string>>;
  /** Of the gateway, in the families of the network; at least one. */
  readonly nodeAddresses: readonly InterfaceAddress[];
  /** In the families of `nodeAddresses`, one each; none on the default network, whose packets leave as the node's. */
  readonly masqueradeAddresses: readonly Ip[];
  /** In the families of the network. */
  readonly joinSubnets: readonly Cidr[];
  /** Of the gateway router, in the families of the network. */
  readonly joinAddresses: readonly InterfaceAddress[];
  /** On layer 2 only: of the link to the transit router. */
  readonly links: readonly LinkAddresses[];
}

/** Undefined while something is missing that will come, or when this node has no gateway or not the network. */
export const gatewaySite = (name: string, view: View): GatewaySite | Diagnostic | undefined => {
  const here = routedNetwork(name, view);
  if (here === undefined || !hasRouter(here.network)) return undefined;
  const gateway = view.gateway(view.node);
  const node = view.nodeFact(view.node);
  if (gateway === undefined || node?.id === undefined || node.chassisId === undefined) return undefined;
  const { network, subnets } = here;
  const inside = insideAddresses(network, node.id);
  if (typeof inside === 'string') return problem(network, inside);
  const outside = outsideAddresses(network, gateway, view);
  if (typeof outside === 'string') return problem(network, outside);
  return {
    network,
    subnets,
    node: { ...node, id: node.id, chassisId: node.chassisId },
    gateway,
    router: gatewayRouterName(network.name, node.name),
    externalIds: networkIds(network),
    ...inside,
    ...outside,
  };
};

export const isSite = (site: GatewaySite | Diagnostic): site is GatewaySite => 'network' in site;

/** A layer-2 network has one when it has the second key. */
const hasRouter = ({ topology, tunnelKeys }: RoutedNetworkFact): boolean =>
  topology === 'layer3' || tunnelKeys.length > 1;

type Inside = Pick<GatewaySite, 'joinSubnets' | 'joinAddresses' | 'links'>;

/** A text says what is wrong. */
const insideAddresses = (network: RoutedNetworkFact, node: NodeId): Inside | string => {
  const joinSubnets = ofNetworkFamilies(network, network.joinSubnets);
  const joinAddresses = nodeJoinAddresses(joinSubnets, node);
  if (joinAddresses === undefined) return `the join subnets ${joinSubnets.join(', ')} have no address for this node`;
  const transitSubnets = network.topology === 'layer2' ? ofNetworkFamilies(network, network.transitSubnets) : [];
  const links = nodeLinkAddresses(transitSubnets, node);
  if (links === undefined) return `the transit subnets ${transitSubnets.join(', ')} have no addresses for this node`;
  return { joinSubnets, joinAddresses, links };
};

type Outside = Pick<GatewaySite, 'nodeAddresses' | 'masqueradeAddresses'>;

const outsideAddresses = (network: RoutedNetworkFact, gateway: GatewayFact, { cluster }: View): Outside | string => {
  const isOwn = network.role !== 'default';
  const masquerade = isOwn ? networkMasqueradeAddresses(cluster, network.id, 'gateway') : [];
  if (masquerade === undefined) return `the masquerade subnets are too small for network id ${network.id}`;
  const families = networkFamilies(network).filter(
    (family) => !isOwn || masquerade.some((address) => ipFamily(address) === family),
  );
  const nodeAddresses = gateway.addresses.filter((address) => families.includes(cidrFamily(address)));
  if (nodeAddresses.length === 0) return 'the gateway has no address in any IP family of the network';
  const masqueradeAddresses = masquerade.filter((ip) => hasFamily(nodeAddresses, ipFamily(ip)));
  return { nodeAddresses, masqueradeAddresses };
};

const hasFamily = (addresses: readonly InterfaceAddress[], family: Family): boolean =>
  addresses.some((address) => cidrFamily(address) === family);

const problem = ({ name }: RoutedNetworkFact, why: string): Diagnostic => ({
  object: `Network/${name}`,
  severity: 'error',
  cause: 'network-without-gateway',
  message: `this node has no gateway for it: ${why}`,
});
