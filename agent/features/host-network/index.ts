/**
 * The host's network stack: its own port on every network, a VRF for each user-defined one, and how it reaches services.
 * Names, tables and priorities: docs/registries.md.
 */
import { managementMac } from '../../../api/network.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { routedNetwork } from '../shared/local-network.ts';
import { defaultNetworkRoutes, gatewayBridgeItems, internalServiceRoutes } from './default-network.ts';
import { managementLink, managementOvsPort } from './management-link.ts';
import { tenantItems } from './tenant-routing.ts';
import { tunnelRoutes } from './tunnel-routes.ts';

export const hostNetwork: FeatureOver<'network'> = {
  name: 'host-network',
  over: 'network',
  render: ({ network: name }, view) => {
    const local = routedNetwork(name, view);
    const mac = local && managementMac(local.network, local.subnets);
    if (local === undefined || mac === undefined) return EMPTY_FRAGMENT;
    const isDefault = local.network.role === 'default';
    const items = isDefault
      ? [...managementLink(local), ...defaultNetworkRoutes(local, view), ...internalServiceRoutes(local, view)]
      : tenantItems(local, view);
    if (items === undefined) return EMPTY_FRAGMENT;
    return { openvswitch: managementOvsPort(local.network, view.node, mac), host: { items } };
  },
};

export const hostGateway: FeatureOver<'zone'> = {
  name: 'host-gateway',
  over: 'zone',
  render: (_, view) => ({ host: { items: [...gatewayBridgeItems(view), ...tunnelRoutes(view)] } }),
};
