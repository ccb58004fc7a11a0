/**
 * The Kubernetes API and DNS for every tenant: the few Services of the default network that the settings name. OKEP "User
 * Defined Network Segmentation", "Kubernetes API and DNS services". A tenant's own load balancers know nothing of them.
 * What its pods send to such a ClusterIP goes into the host by the network's management port, from there to the gateway
 * bridge, and by the flow made here to the default network's gateway router, whose load balancer has it; what they send to
 * any other ClusterIP ends in that table, or before. How packets walk: docs/services.md.
 */
import { managementIp } from '../../../../api/network.ts';
import { cidrFamily } from '../../../../net/cidr.ts';
import { ipFamily } from '../../../../net/ip.ts';
import type { RoutedNetworkFact } from '../../../model/facts.ts';
import { type Diagnostic, EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { clusterRouterName, transitRouterName } from '../../../model/names.ts';
import { flow, ip, onBridge } from '../../shared/bridge/flow.ts';
import { asNeighbour, bridgeSite, toTrunk } from '../../shared/bridge/site.ts';
import { routedNetwork } from '../../shared/local-network.ts';
import { networkIds } from '../../shared/ovn/external-ids.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { staticRoute } from '../../shared/ovn/router-rows.ts';
import { type AllowedService, allowedServices } from './allowed.ts';

/** Apart from the network's other rows: a ClusterIP that changes is a route of each network, and nothing else. */
export const defaultServiceRoutes: FeatureOver<'network'> = {
  name: 'default-service-routes',
  over: 'network',
  render: ({ network: name }, view) => {
    // In local gateway mode all that leaves the network goes by the management port.
    if (view.gatewayMode(view.node) !== 'shared') return EMPTY_FRAGMENT;
    const here = routedNetwork(name, view);
    const router = here && routerOf(here.network);
    if (here === undefined || router === undefined) return EMPTY_FRAGMENT;
    const { network, subnets } = here;
    const routes = allowedServices(view).flatMap(({ key, clusterIps }) =>
      clusterIps.flatMap((clusterIp) => {
        const subnet = subnets.find((one) => cidrFamily(one) === ipFamily(clusterIp));
        if (subnet === undefined) return [];
        const nexthop = managementIp(network, subnet);
        const externalIds = { ...networkIds(network), 'k8s.ovn.org/udn-enabled-default-service': key };
        return [staticRoute(router, { prefix: clusterIp, policy: 'dst-ip', nexthop, externalIds })];
      }),
    );
    return { northbound: merge(...routes) };
  },
};

export const defaultServiceFlows: FeatureOver<'zone'> = {
  name: 'default-service-flows',
  over: 'zone',
  render: (_, view) => {
    const site = bridgeSite(view);
    if (site === undefined) return EMPTY_FRAGMENT;
    const allowed = allowedServices(view);
    const flows = allowed
      .flatMap(({ clusterIps }) => clusterIps)
      .filter((clusterIp) => site.families.some(({ family }) => family === ipFamily(clusterIp)))
      .map((dst) =>
        flow('services', 'allowedForAll', {
          match: ip(ipFamily(dst), { dst }),
          actions: [...asNeighbour(site), ...toTrunk(site, site.defaultPatch)],
        }),
      );
    return { openflow: { items: onBridge(site.bridge, flows) }, diagnostics: allowed.flatMap(strange) };
  },
};

/** The one that its pods' switch is on. A layer-2 network without a second key has none. */
const routerOf = ({ name, role, topology, tunnelKeys }: RoutedNetworkFact): string | undefined => {
  if (role !== 'primary') return undefined;
  if (topology === 'layer3') return clusterRouterName(name);
  return tunnelKeys.length > 1 ? transitRouterName(name) : undefined;
};

const strange = ({ key, strangeIps }: AllowedService): Diagnostic[] =>
  strangeIps.length === 0
    ? []
    : [
        {
          object: `Service/${key}`,
          severity: 'warning',
          cause: 'external-address-refused',
          message: `tenants cannot reach it at ${strangeIps.join(', ')}: outside the service subnets that this agent is configured with`,
        },
      ];
