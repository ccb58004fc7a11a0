/** What the router before the gateways, of whatever topology, needs to know of this node's gateway. */
import { type ClusterConfig, masqueradeAddresses } from '../../../api/cluster-config.ts';
import { managementIp } from '../../../api/network.ts';
import { cidrFamily } from '../../../net/cidr.ts';
import { type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import type { DesiredFragment } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import type { GatewaySite } from '../shared/ovn/gateway-site.ts';
import { nodeAddressPolicy, staticRoute } from '../shared/ovn/router-rows.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export interface WayOut {
  /** The cluster router or the transit router. */
  readonly router: string;
  /** The gateway router as that router sees it, one address per family. */
  readonly nextHops: readonly Ip[];
  /** The router's port to the switch with this node's pods. */
  readonly inport: string;
  /** The name of that switch, for people who read policies. */
  readonly comment: string;
}

/**
 * What this node's pods send out, recognised by its source, as the router of layer 2 is the same for the pods of all nodes:
 * in shared mode through the gateway router, in local mode through the host.
 */
export const routesOut = (site: GatewaySite, { router, nextHops }: WayOut): Northbound[] =>
  site.subnets.flatMap((subnet) => {
    const nexthop =
      site.gateway.mode === 'local'
        ? managementIp(site.network, subnet)
        : nextHops.find((hop) => ipFamily(hop) === cidrFamily(subnet));
    if (nexthop === undefined) return [];
    return [staticRoute(router, { prefix: subnet, policy: 'src-ip', nexthop, externalIds: site.externalIds })];
  });

/**
 * To endpoints of Services that are this node itself, as the host's masquerade address. In shared mode that is the way out anyway.
 * The default network's pods reach the node by the management port.
 */
export const routesToHost = (
  { network, gateway, nodeAddresses, externalIds }: GatewaySite,
  { router, nextHops }: WayOut,
  cluster: ClusterConfig,
): Northbound[] => {
  if (network.role === 'default' || gateway.mode === 'shared') return [];
  return masqueradeAddresses(cluster, 'host')
    .filter((ip) => nodeAddresses.some((address) => cidrFamily(address) === ipFamily(ip)))
    .flatMap((prefix) => {
      const nexthop = nextHops.find((hop) => ipFamily(hop) === ipFamily(prefix));
      return nexthop === undefined ? [] : [staticRoute(router, { prefix, nexthop, externalIds })];
    });
};

export const nodeAddressPolicies = (
  site: GatewaySite,
  { router, inport, comment }: WayOut,
  destinations: readonly Ip[],
): Northbound[] =>
  destinations.flatMap((destination) => {
    const family = ipFamily(destination);
    const nexthop = managementIpOf(site, family);
    if (nexthop === undefined) return [];
    const match = `inport == "${inport}" && ip${family}.dst == ${destination} /* ${comment} */`;
    return [nodeAddressPolicy(router, { destination, match, nexthop, externalIds: site.externalIds })];
  });

const managementIpOf = ({ network, subnets }: GatewaySite, family: Family): Ip | undefined => {
  const subnet = subnets.find((one) => cidrFamily(one) === family);
  return subnet === undefined ? undefined : managementIp(network, subnet);
};
