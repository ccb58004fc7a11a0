/**
 * Names of OVN rows, as tools and people know them from ovn-kubernetes. A network's own rows carry its prefix, mostly
 * behind the kind (`rtos-red.red_n1`), on the way to the transit switch before it (`red.red_rtots-n1`).
 */
import { nadPrefix, networkPrefix } from '../../api/names.ts';

/** Rows that belong to a network. `network` is its name, `default` for the default network. */
export const clusterRouterName = (network: string): string => `${networkPrefix(network)}ovn_cluster_router`;
export const transitSwitchName = (network: string): string => `${networkPrefix(network)}transit_switch`;
export const transitRouterName = (network: string): string => `${networkPrefix(network)}transit_router`;
export const joinSwitchName = (network: string): string => `${networkPrefix(network)}join`;
export const layer2SwitchName = (network: string): string => `${networkPrefix(network)}ovn_layer2_switch`;

/** A node's part of a localnet: its own pods, and the port to the physical network. */
export const localnetSwitchName = (network: string): string => `${networkPrefix(network)}ovn_localnet_switch`;
export const localnetPortName = (network: string): string => `${networkPrefix(network)}ovn_localnet_port`;

/** A node's part of a layer-3 network. */
export const nodeSwitchName = (network: string, node: string): string => `${networkPrefix(network)}${node}`;
export const routerToSwitchPortName = (network: string, node: string): string =>
  `rtos-${nodeSwitchName(network, node)}`;
export const switchToRouterPortName = (network: string, node: string): string =>
  `stor-${nodeSwitchName(network, node)}`;
export const routerToTransitPortName = (network: string, node: string): string =>
  `${networkPrefix(network)}rtots-${node}`;
export const transitToRouterPortName = (network: string, node: string): string =>
  `${networkPrefix(network)}tstor-${node}`;

/** Of a layer-2 network: its switch and its transit router. */
export const transitRouterToSwitchPortName = (network: string): string => `trtos-${layer2SwitchName(network)}`;
export const switchToTransitRouterPortName = (network: string): string => `stotr-${layer2SwitchName(network)}`;

/** A node's gateway, and the way out behind it. */
export const gatewayRouterName = (network: string, node: string): string => `GR_${nodeSwitchName(network, node)}`;
export const externalSwitchName = (network: string, node: string): string => `ext_${nodeSwitchName(network, node)}`;
/** The port to the gateway bridge. That of the default network is the bridge's `interface-id`. */
export const externalBridgePortName = (bridge: string, network: string, node: string): string =>
  `${bridge}_${nodeSwitchName(network, node)}`;
/** Between a join switch, or a transit router, and a router: `router` is the router's name. */
export const routerToJoinPortName = (router: string): string => `rtoj-${router}`;
export const joinToRouterPortName = (router: string): string => `jtor-${router}`;
export const routerToExternalPortName = (router: string): string => `rtoe-${router}`;
export const externalToRouterPortName = (router: string): string => `etor-${router}`;
export const routerToTransitRouterPortName = (router: string): string => `rtotr-${router}`;
export const transitRouterToRouterPortName = (router: string): string => `trtor-${router}`;

/** The port of the node itself; also the `iface-id` of its interface `ovn-k8s-mp<id>`. */
export const managementPortName = (network: string, node: string): string => `k8s-${nodeSwitchName(network, node)}`;

export const gatewayChassisName = (routerPort: string, chassis: string): string => `${routerPort}-${chassis}`;

/** What the network's pods and gateways send to Services by. */
export const loadBalancerGroupName = (network: string): string => `${networkPrefix(network)}${LOAD_BALANCER_GROUP}`;
/** True of the default network's, and of every other network's. */
export const isLoadBalancerGroupName = (name: string): boolean =>
  name === LOAD_BALANCER_GROUP || name.endsWith(`_${LOAD_BALANCER_GROUP}`);
/** @param owner with its `namespace/name` @param protocol in capital letters @param scope `cluster`, `node_switch_<node>` */
export const loadBalancerName = (
  network: string,
  { kind, key }: { readonly kind: 'Service' | 'Pod'; readonly key: string },
  protocol: string,
  scope: string,
): string => `${networkPrefix(network)}${kind}_${key}_${protocol}_${scope}`;

/** The port of a pod's attachment; it is also the `iface-id` that ovn-controller binds by. */
export const podPortName = (nadKey: string, namespace: string, pod: string): string =>
  `${nadPrefix(nadKey)}${namespace}_${pod}`;

/** Owner of rows that are found by id, for example `default-network-controller`. */
export const controllerName = (network: string): string =>
  network === 'default' ? 'default-network-controller' : `${network}-network-controller`;

/** Control-plane protection; every router of ours refers to it. */
export const COPP_NAME = 'ovnkube-default';
/** The same of switches where ovn-controller answers DHCP. Not that of routers: it would limit what a switch rejects, too. */
export const DHCP_COPP_NAME = 'ovn-udn-dhcp';
/** Of log messages of ACLs; every ACL refers to it by name. */
export const ACL_LOGGING_METER = 'acl-logging';

const LOAD_BALANCER_GROUP = 'clusterLBGroup';
