/**
 * All features, in the order in which they were added. Adding a capability adds a folder and a line here. Nothing else imports a feature,
 * not even another one: what several need is in `shared/`, what others than features need is in `agent/model/`.
 */
import type { Feature } from '../model/fragment.ts';
import { attachments } from './attachments/index.ts';
import {
  gatewayBridge,
  gatewayBridgeLocalnet,
  gatewayBridgeNeighbours,
  gatewayBridgeNetwork,
  otherNodes,
  pathMtu,
  tunnelEnds,
} from './gateway-bridge/index.ts';
import { gatewayRouters } from './gateway-routers/index.ts';
import { hostIsolation, hostIsolationPod } from './host-isolation/index.ts';
import { hostGateway, hostNetwork } from './host-network/index.ts';
import { hostNftables, hostNftablesNetwork, remoteNodes } from './host-nftables/index.ts';
import { isolatedPods, isolation } from './isolation/index.ts';
import { managementPorts } from './management-ports/index.ts';
import { NETWORKS } from './networks/index.ts';
import { nodeIdentity } from './node-identity/index.ts';
import { openVswitch } from './open-vswitch/index.ts';
import { pods } from './pods/index.ts';
import { POLICIES } from './policies/index.ts';
import { remoteChassis } from './remote-chassis/index.ts';
import { routerAdvertisements, serverAnswers } from './server-answers/index.ts';
import { SERVICES } from './services/index.ts';
import { tunnelMtu } from './tunnel-mtu/index.ts';
import { zone } from './zone/index.ts';

export const FEATURES: readonly Feature[] = [
  zone,
  openVswitch,
  remoteChassis,
  ...NETWORKS,
  managementPorts,
  gatewayRouters,
  gatewayBridge,
  gatewayBridgeNetwork,
  gatewayBridgeLocalnet,
  gatewayBridgeNeighbours,
  pathMtu,
  otherNodes,
  tunnelEnds,
  hostGateway,
  hostNetwork,
  hostNftables,
  hostNftablesNetwork,
  hostIsolation,
  hostIsolationPod,
  remoteNodes,
  attachments,
  ...POLICIES,
  pods,
  isolation,
  isolatedPods,
  serverAnswers,
  routerAdvertisements,
  ...SERVICES,
  nodeIdentity,
  tunnelMtu,
];
