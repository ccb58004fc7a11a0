/** What this node does for Services, and for ports of the node that lead to pods: in OVN, on the gateway bridge, in the host's nftables, at its sockets, and for every tenant. */
import type { Feature } from '../../model/fragment.ts';
import { serviceHostEndpoints } from './bridge/host-endpoints.ts';
import { serviceFlows } from './bridge/index.ts';
import { defaultServiceFlows, defaultServiceRoutes } from './default/index.ts';
import { serviceClusterIps } from './host/cluster-ips.ts';
import { hostServices, serviceNftables } from './host/index.ts';
import { hostInternalServices, serviceInternal } from './host/internal.ts';
import { hostPortChains } from './host-ports/chains.ts';
import { hostPorts } from './host-ports/index.ts';
import { loadBalancerGroups, services } from './ovn/index.ts';
import { nodePorts } from './sockets/index.ts';

export const SERVICES: readonly Feature[] = [
  loadBalancerGroups,
  services,
  serviceFlows,
  serviceHostEndpoints,
  serviceClusterIps,
  hostServices,
  serviceNftables,
  hostInternalServices,
  serviceInternal,
  nodePorts,
  hostPortChains,
  hostPorts,
  defaultServiceRoutes,
  defaultServiceFlows,
];
