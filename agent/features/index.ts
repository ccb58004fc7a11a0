/** All features, in the order in which they were added. Adding a capability adds a folder and a line here. */
import type { Feature } from '../model/fragment.ts';
import { attachments } from './attachments/index.ts';
import {
  gatewayBridge,
  gatewayBridgeNeighbours,
  gatewayBridgeNetwork,
  pathMtu,
  tunnelEnds,
} from './gateway-bridge/index.ts';
import { gatewayRouters } from './gateway-routers/index.ts';
import { hostIsolation, hostIsolationPod } from './host-isolation/index.ts';
import { hostGateway, hostNetwork } from './host-network/index.ts';
import { hostNftables, hostNftablesNetwork, remoteNodes } from './host-nftables/index.ts';
import { isolatedPods, isolation } from './isolation/index.ts';
import { layer2Network } from './layer2/index.ts';
import { layer3Network } from './layer3/index.ts';
import { managementPorts } from './management-ports/index.ts';
import { networkNodes } from './network-nodes/index.ts';
import { nodeIdentity } from './node-identity/index.ts';
import { openVswitch } from './open-vswitch/index.ts';
import { pods } from './pods/index.ts';
import { remoteChassis } from './remote-chassis/index.ts';
import { routerAdvertisements, serverAnswers } from './server-answers/index.ts';
import { serviceHostEndpoints } from './services/bridge/host-endpoints.ts';
import { serviceFlows } from './services/bridge/index.ts';
import { defaultServiceFlows, defaultServiceRoutes } from './services/default/index.ts';
import { serviceClusterIps } from './services/host/cluster-ips.ts';
import { hostServices, serviceNftables } from './services/host/index.ts';
import { hostInternalServices, serviceInternal } from './services/host/internal.ts';
import { loadBalancerGroups, services } from './services/ovn/index.ts';
import { nodePorts } from './services/sockets/index.ts';
import { zone } from './zone/index.ts';

export const FEATURES: readonly Feature[] = [
  zone,
  openVswitch,
  remoteChassis,
  layer3Network,
  layer2Network,
  networkNodes,
  managementPorts,
  gatewayRouters,
  gatewayBridge,
  gatewayBridgeNetwork,
  gatewayBridgeNeighbours,
  pathMtu,
  tunnelEnds,
  hostGateway,
  hostNetwork,
  hostNftables,
  hostNftablesNetwork,
  hostIsolation,
  hostIsolationPod,
  remoteNodes,
  attachments,
  pods,
  isolation,
  isolatedPods,
  serverAnswers,
  routerAdvertisements,
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
  defaultServiceRoutes,
  defaultServiceFlows,
  nodeIdentity,
];
