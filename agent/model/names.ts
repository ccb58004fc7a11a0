/**
 * Names of OVN rows, as tools and people know them from ovn-kubernetes. A network's own rows carry its prefix, mostly
 * behind the kind (`rtos-red.red_n1`), on the way to the transit switch before it (`red.red_rtots-n1`).
 */
import { nadPrefix, networkPrefix } from '../../api/names.ts';

/** Rows that belong to a network. `network` is its name, `default` for the default network. */
export const clusterRouterName = (network: string): string => `${networkPrefix(network)}ovn_cluster_router`;
export const transitSwitchName = (network: string): string => `${networkPrefix(network)}transit_switch`;
export const layer2SwitchName = (network: string): string => `${networkPrefix(network)}ovn_layer2_switch`;

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
export const gatewayChassisName = (routerPort: string, chassis: string): string => `${routerPort}-${chassis}`;

/** The port of a pod's attachment; it is also the `iface-id` that ovn-controller binds by. */
export const podPortName = (nadKey: string, namespace: string, pod: string): string =>
  `${nadPrefix(nadKey)}${namespace}_${pod}`;

/** Owner of rows that are found by id, for example `default-network-controller`. */
export const controllerName = (network: string): string =>
  network === 'default' ? 'default-network-controller' : `${network}-network-controller`;
