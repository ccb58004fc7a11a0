/**
 * The port of this node itself in each network (the host's end is the interface `ovn-k8s-mp<id>`), an ACL that no policy
 * can close, and for user-defined networks the address as which their pods appear to the host.
 */
import type { ClusterConfig } from '../../../api/cluster-config.ts';
import { networkMasqueradeAddresses } from '../../../api/masquerade.ts';
import { managementIp, managementMac } from '../../../api/network.ts';
import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { Mac } from '../../../net/mac.ts';
import { type DesiredFragment, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import type { RoutedNetworkFact } from '../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import {
  ACL_LOGGING_METER,
  clusterRouterName,
  controllerName,
  managementPortName,
  routerToSwitchPortName,
  transitRouterName,
  transitRouterToSwitchPortName,
} from '../../model/names.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey, switchKey } from '../../model/row-keys.ts';
import { podSwitchName, type RoutedNetwork, routedNetwork } from '../shared/local-network.ts';
import { managementConnections } from '../shared/ovn/connection-limit.ts';
import { networkIds } from '../shared/ovn/external-ids.ts';
import { merge } from '../shared/ovn/merge.ts';
import { switchPort } from '../shared/ovn/port-rows.ts';
import { sourceTranslation } from '../shared/ovn/router-rows.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export const managementPorts: FeatureOver<'network'> = {
  name: 'management-ports',
  over: 'network',
  render: ({ network: name }, view) => {
    const here = routedNetwork(name, view);
    const mac = here && managementMac(here.network, here.subnets);
    if (here === undefined || mac === undefined) return EMPTY_FRAGMENT;
    const { network, subnets } = here;
    const hostSide = hostSideAddresses(network, view.cluster);
    if (hostSide === undefined) {
      const message = `this node has no management port for it: the masquerade subnets are too small for network id ${network.id}`;
      return {
        diagnostics: [{ object: `Network/${name}`, severity: 'error', cause: 'network-without-gateway', message }],
      };
    }
    const ips = subnets.map((subnet) => managementIp(network, subnet));
    const onSwitch = podSwitchName(network, view.node);
    return {
      northbound: merge(
        switchPort(onSwitch, {
          ...{ name: managementPortName(name, view.node), addresses: [[mac, ...ips].join(' ')] },
          external_ids: managementConnections(network, view),
        }),
        ...ips.map((ip) => nodeAllow(name, onSwitch, ip)),
        ...subnets.flatMap((subnet) => towardsHost(here, subnet, view.node, mac, hostSide)),
      ),
    };
  },
};

/** None on the default network, whose pods the host knows by their own addresses. */
const hostSideAddresses = ({ role, id }: RoutedNetworkFact, cluster: ClusterConfig): readonly Ip[] | undefined =>
  role === 'default' ? [] : networkMasqueradeAddresses(cluster, id, 'management');

const nodeAllow = (network: string, onSwitch: string, ip: Ip): Northbound => {
  const { id, externalIds } = databaseId(controllerName(network), 'NetpolNode', { 'k8s.ovn.org/name': onSwitch, ip });
  const { tier, priority } = ACL_RANKS.nodeAllow;
  return {
    rows: [
      {
        table: 'ACL',
        key: aclKey(id),
        columns: {
          direction: 'to-lport',
          action: 'allow-related',
          priority,
          tier,
          match: `ip${ipFamily(ip)}.src==${ip}`,
          meter: ACL_LOGGING_METER,
          external_ids: externalIds,
        },
      },
    ],
    members: [{ table: 'Logical_Switch', row: switchKey(onSwitch), column: 'acls', value: rowRef(aclKey(id)) }],
  };
};

/**
 * Networks may have the same subnets: the host distinguishes their pods by this address. The match keeps it from what goes
 * out through the gateway router, which has an address of its own for that.
 */
const towardsHost = (
  { network }: RoutedNetwork,
  subnet: Cidr,
  node: string,
  mac: Mac,
  hostSide: readonly Ip[],
): Northbound[] => {
  const to = hostSide.find((ip) => ipFamily(ip) === cidrFamily(subnet));
  const router = routerOf(network, node);
  if (to === undefined || router === undefined) return [];
  return [
    sourceTranslation(router.name, {
      source: subnet,
      to,
      logicalPort: router.port,
      match: `eth.dst == ${mac}`,
      externalIds: networkIds(network),
    }),
  ];
};

/** The router that the pods' switch is on, and its port there. A layer-2 network without a second key has none. */
const routerOf = (
  { name, topology, tunnelKeys }: RoutedNetworkFact,
  node: string,
): { readonly name: string; readonly port: string } | undefined => {
  if (topology === 'layer3') return { name: clusterRouterName(name), port: routerToSwitchPortName(name, node) };
  return tunnelKeys.length > 1
    ? { name: transitRouterName(name), port: transitRouterToSwitchPortName(name) }
    : undefined;
};
