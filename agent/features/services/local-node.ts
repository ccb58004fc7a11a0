/** What the load balancers of a network have to know of this node. */
import { addressOf } from '../../../net/cidr.ts';
import type { EndpointNetwork } from '../../model/services/endpoints.ts';
import type { View } from '../../model/view.ts';
import { gatewaySite, isSite } from '../shared/ovn/gateway-site.ts';
import type { LocalNode } from './rules.ts';

export const hasGateway = (network: string, view: View): boolean => {
  const site = gatewaySite(network, view);
  return site !== undefined && isSite(site);
};

/** Looked up when it is asked for: most Services are the same whatever the node has. */
export const localNode = ({ name: network }: Pick<EndpointNetwork, 'name'>, view: View): LocalNode => ({
  name: view.node,
  get zone() {
    return view.nodeFact(view.node)?.zone;
  },
  get addresses() {
    const all = [...(view.gateway(view.node)?.addresses ?? []), ...view.hostAddresses(view.node)];
    return [...new Set(all.map(addressOf))];
  },
  get hasRouter() {
    return hasGateway(network, view);
  },
  get hasNodePorts() {
    return view.gateway(view.node)?.nodePortEnable === true;
  },
});
