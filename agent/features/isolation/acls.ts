/**
 * A pod of a primary network keeps its interface on the default network for kubelet's probes. This lets the node start
 * connections to it and stops everything else, before any network policy is looked at.
 */
import { managementIp } from '../../../api/network.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { DesiredRow } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import { controllerName } from '../../model/names.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey } from '../../model/row-keys.ts';
import { ACL_LOGGING_METER } from '../zone/index.ts';

/** @param subnets of the default network on this node; none yet: nothing is allowed */
export const isolationAcls = (portGroup: string, subnets: readonly Cidr[]): DesiredRow<OvnNorthbound>[] => {
  const deny = [
    isolationAcl('DenyPrimaryUDN', 'Egress', 'drop', `inport == @${portGroup}`),
    isolationAcl('DenyPrimaryUDN', 'Ingress', 'drop', `outport == @${portGroup}`),
  ];
  const hosts = subnets.map((subnet) => managementIp(DEFAULT_GATEWAYS, subnet));
  if (hosts.length === 0) return deny;
  const asked = anyOf(hosts, (ip) => neighbourMatch(ip, 'tpa'));
  const answered = anyOf(hosts, (ip) => neighbourMatch(ip, 'spa'));
  const sources = hosts.map((ip) => `ip${ipFamily(ip)}.src==${ip}`).join(' || ');
  return [
    ...deny,
    isolationAcl('AllowHostARPPrimaryUDN', 'Egress', 'allow', `inport == @${portGroup} && (${asked})`),
    isolationAcl('AllowHostARPPrimaryUDN', 'Ingress', 'allow', `outport == @${portGroup} && (${answered})`),
    isolationAcl('AllowHostPrimaryUDN', 'Ingress', 'allow-related', `outport == @${portGroup} && (${sources})`),
  ];
};

const DEFAULT_GATEWAYS = { defaultGatewayIps: [], infrastructureSubnets: [] };

const anyOf = (hosts: readonly Ip[], match: (ip: Ip) => string): string =>
  hosts.map((ip) => `( ${match(ip)} )`).join(' || ');

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
