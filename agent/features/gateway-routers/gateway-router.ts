/** A network's router on this node to the outside: what is on it whatever the topology inside is. */
import { masqueradeAddresses } from '../../../api/cluster-config.ts';
import { addressOf, type Cidr, cidrFamily, defaultRoute } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import { type DesiredFragment, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { COPP_NAME, routerToExternalPortName } from '../../model/names.ts';
import { PORTS_OF_PODS } from '../../model/registry/marks.ts';
import { coppKey, routerKey } from '../../model/row-keys.ts';
import type { View } from '../../model/view.ts';
import { routerConnections } from '../shared/ovn/connection-limit.ts';
import { networkAndRoleIds } from '../shared/ovn/external-ids.ts';
import type { GatewaySite } from '../shared/ovn/gateway-site.ts';
import { merge } from '../shared/ovn/merge.ts';
import { defaultRouteVia, groupFramePolicy, sourceTranslation, staticRoute } from '../shared/ovn/router-rows.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export const gatewayRouter = (site: GatewaySite, view: View): Northbound =>
  merge(
    routerRow(site, view),
    ...translations(site),
    ...masqueradeRoutes(site, view.cluster),
    ...strayServiceRoutes(site, view.cluster),
    ...defaultRoutes(site),
    ...groupFrames(site),
  );

const routerRow = (site: GatewaySite, view: View): Northbound => {
  const { network, node, router, nodeAddresses, masqueradeAddresses: masquerade } = site;
  const addresses = nodeAddresses.map(addressOf);
  return {
    rows: [
      {
        table: 'Logical_Router',
        key: routerKey(router),
        columns: {
          name: router,
          options: {
            // Neighbours are learned when they are needed, not from every request on the outside, and forgotten again.
            always_learn_from_arp_request: 'false',
            dynamic_neigh_routers: 'false',
            mac_binding_age_threshold: '300',
            chassis: node.chassisId,
            lb_force_snat_ip: forcedSource(site),
            ...roleOptions(site),
          },
          external_ids: {
            ...networkAndRoleIds(network),
            ...routerConnections(network, view),
            physical_ip: addresses[0] ?? '',
            physical_ips: [...addresses, ...masquerade].join(','),
          },
          copp: rowRef(coppKey(COPP_NAME)),
        },
      },
    ],
  };
};

/**
 * Of what load balancers send on to pods. With `router_ip` OVN takes the first address of the port, and warns: ports of
 * user-defined networks have several, towards the outside even the node's own.
 */
const forcedSource = ({ network, joinAddresses }: GatewaySite): string =>
  network.role === 'default' ? 'router_ip' : joinAddresses.map(addressOf).join(' ');

/**
 * The default network shares the host's conntrack zone, so that the host and OVN agree on who has which port. All others
 * have the node's addresses, too: only one may announce them.
 *
 * northd drops what is for an address of the router itself, unless it translates to it or a load balancer has it, and of the
 * latter it forgets an address when one of several rows with it has it no more: all node ports there would be silent. Thus
 * the node's addresses are those of a translation, too, as they are in the default network (ADR 54). There is none that it is for:
 * the router has no `dnat`.
 */
const roleOptions = (site: GatewaySite): Record<string, string> =>
  site.network.role === 'default'
    ? { 'snat-ct-zone': '0' }
    : { disable_garp_rarp: 'true', dnat_force_snat_ip: site.nodeAddresses.map(addressOf).join(' ') };

/**
 * What leaves has the node's address; that of user-defined networks a masquerade address by which the gateway bridge knows
 * the network, and gives it the node's address only then. The join address is that of errors which the router itself sends.
 */
const translations = (site: GatewaySite): Northbound[] => {
  const { router, network, joinAddresses, externalIds } = site;
  const sources = [...joinAddresses.map(addressOf), ...network.subnets.map(({ cidr }) => cidr)];
  return sources.flatMap((source) => {
    const to = leavingAs(site, source);
    // Others have a masquerade address here, and the node's by the gateway bridge.
    const ports = network.role === 'default' ? `${PORTS_OF_PODS.first}-${PORTS_OF_PODS.last}` : '';
    return to === undefined ? [] : [sourceTranslation(router, { source, to, ports, externalIds })];
  });
};

const leavingAs = ({ network, nodeAddresses, masqueradeAddresses: masquerade }: GatewaySite, source: Cidr | Ip) => {
  const addresses = network.role === 'default' ? nodeAddresses.map(addressOf) : masquerade;
  return addresses.find((ip) => ipFamily(ip) === familyOf(source));
};

const familyOf = (source: Cidr | Ip) => (source.includes('/') ? cidrFamily(source as Cidr) : ipFamily(source as Ip));

/** Answers to masquerade addresses go back to the bridge, at a neighbour that is not there: its MAC is fixed. */
const masqueradeRoutes = (site: GatewaySite, cluster: View['cluster']): Northbound[] => {
  const { router, network, nodeAddresses, externalIds } = site;
  const dummies = masqueradeAddresses(cluster, 'dummyNextHop');
  return cluster.masqueradeSubnets.flatMap((subnet, index) => {
    const nexthop = dummies[index];
    if (nexthop === undefined || !nodeAddresses.some((one) => cidrFamily(one) === cidrFamily(subnet))) return [];
    const ids = network.role === 'default' ? { 'k8s.ovn.org/node-masquerade-subnet': '' } : externalIds;
    const outputPort = routerToExternalPortName(router);
    return [staticRoute(router, { prefix: subnet, nexthop, outputPort, externalIds: ids })];
  });
};

/**
 * What load balancers take is somewhere else by now. The rest is for a Service that is not there yet, or no more: on its way out
 * conntrack would note it, and who goes on to send by UDP would be known as not translated when the Service is there.
 */
const strayServiceRoutes = (
  { router, network, nodeAddresses, externalIds }: GatewaySite,
  { serviceSubnets }: View['cluster'],
): Northbound[] =>
  serviceSubnets
    .filter((subnet) => nodeAddresses.some((one) => cidrFamily(one) === cidrFamily(subnet)))
    .map((prefix) =>
      staticRoute(router, {
        prefix,
        nexthop: 'discard',
        externalIds: network.role === 'default' ? {} : externalIds,
      }),
    );

/** The gateway bridge floods to the default network only. */
const groupFrames = ({ router, network }: GatewaySite): Northbound[] =>
  network.role === 'default' ? [groupFramePolicy(router, routerToExternalPortName(router))] : [];

const defaultRoutes = ({ router, gateway, nodeAddresses, externalIds }: GatewaySite): Northbound[] =>
  gateway.nextHops
    .filter((hop) => nodeAddresses.some((address) => cidrFamily(address) === ipFamily(hop)))
    .map((nexthop) =>
      defaultRouteVia(router, defaultRoute(ipFamily(nexthop)), {
        nexthop,
        outputPort: routerToExternalPortName(router),
        externalIds,
      }),
    );
