/** What of a network no EgressFirewall is about. */
import type { ClusterConfig } from '../../../api/cluster-config.ts';
import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import type { Family } from '../../../net/ip.ts';
import type { NetworkFact } from '../facts.ts';

/**
 * The cluster's own: pods of the network, and Services that are translated elsewhere than on it. Addresses of a Service's endpoints are not
 * among them, where these are outside. A tenant may choose the subnets: what is sent to one that no node has comes back from the gateway's
 * router, which has a route for all of them. Of join subnets there need be none, so a firewall is about these.
 */
export const firewallExempts = (
  { subnets }: Pick<NetworkFact, 'subnets'>,
  { serviceSubnets }: Pick<ClusterConfig, 'serviceSubnets'>,
  family: Family,
): readonly Cidr[] =>
  [...new Set([...subnets.map(({ cidr }) => cidr), ...serviceSubnets])].filter((cidr) => cidrFamily(cidr) === family);
