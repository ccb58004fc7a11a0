/**
 * A pod of a primary network keeps its interface on the default network for kubelet's probes. This lets the node start
 * connections to it and stops everything else, before any network policy is looked at. The node is its management port's address
 * with the port's MAC, or with that of the switch's router: the host takes the router's `arp_proxy` for a pod that is not plugged yet, and
 * sends to it for a while. What others send as that address to the router is dropped there (`managementSourcePolicy`). Port security
 * leaves of the subnet only the pod's own addresses, and neither groups nor link-local ones are of it.
 */
import { gatewayMac, managementIp, managementMac } from '../../../api/network.ts';
import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { DesiredRow } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import { ACL_LOGGING_METER, controllerName } from '../../model/names.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey } from '../../model/row-keys.ts';

/** @param subnets of the default network on this node; none yet: nothing is allowed */
export const isolationAcls = (portGroup: string, subnets: readonly Cidr[]): DesiredRow<OvnNorthbound>[] => {
  const deny = [
    isolationAcl('DenyPrimaryUDN', 'Egress', 'drop', `inport == @${portGroup}`),
    isolationAcl('DenyPrimaryUDN', 'Ingress', 'drop', `outport == @${portGroup}`),
  ];
  const hosts = managementIps(subnets);
  const macs = [managementMac(DEFAULT_GATEWAYS, subnets), gatewayMac(DEFAULT_GATEWAYS, subnets)];
  if (macs.includes(undefined)) return deny;
  const asked = anyOf(hosts, (ip) => neighbourMatch(ip, 'tpa'));
  const answered = anyOf(hosts, (ip) => neighbourMatch(ip, 'spa'));
  const probes = subnets.map((subnet) => `( ${probeMatch(subnet)} )`).join(' || ');
  return [
    ...deny,
    isolationAcl('AllowHostARPPrimaryUDN', 'Egress', 'allow', `inport == @${portGroup} && (${asked})`),
    isolationAcl('AllowHostARPPrimaryUDN', 'Ingress', 'allow', `outport == @${portGroup} && (${answered})`),
    isolationAcl(
      'AllowHostPrimaryUDN',
      'Ingress',
      'allow-related',
      `outport == @${portGroup} && eth.src == {${macs.join(', ')}} && !eth.mcast && (${probes})`,
    ),
  ];
};

/** Of this node's port on the default network. */
export const managementIps = (subnets: readonly Cidr[]): Ip[] =>
  subnets.map((subnet) => managementIp(DEFAULT_GATEWAYS, subnet));

const DEFAULT_GATEWAYS = { defaultGatewayIps: [], infrastructureSubnets: [] };

const anyOf = (hosts: readonly Ip[], match: (ip: Ip) => string): string =>
  hosts.map((ip) => `( ${match(ip)} )`).join(' || ');

/** From the node to an address of its own subnet. */
const probeMatch = (subnet: Cidr): string => {
  const ip = `ip${cidrFamily(subnet)}`;
  return `${ip}.src == ${managementIp(DEFAULT_GATEWAYS, subnet)} && ${ip}.dst == ${subnet}`;
};

const neighbourMatch = (ip: Ip, field: 'tpa' | 'spa'): string =>
  ipFamily(ip) === 4 ? `arp && arp.${field} == ${ip}` : `nd && nd.target == ${ip}`;

export const isolationAcl = (
  name: string,
  direction: 'Egress' | 'Ingress',
  action: 'allow' | 'allow-related' | 'drop',
  match: string,
): DesiredRow<OvnNorthbound> => {
  const { id, externalIds } = databaseId(controllerName('default'), 'UDNIsolation', {
    'k8s.ovn.org/name': name,
    direction,
  });
  const { tier, priority } = action === 'drop' ? ACL_RANKS.isolationDeny : ACL_RANKS.isolationAllow;
  return {
    table: 'ACL',
    key: aclKey(id),
    columns: {
      direction: direction === 'Egress' ? 'from-lport' : 'to-lport',
      action,
      priority,
      tier,
      match,
      meter: ACL_LOGGING_METER,
      external_ids: externalIds,
    },
  };
};
