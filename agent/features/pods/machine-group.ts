/**
 * What virtual machines send to be given their addresses, which no policy forbids, as none forbids ARP: a machine that is isolated would
 * come up without its network. A group of a network's machines, with an ACL per family; the first of them brings it, the last takes it along.
 */
import { networkFamilies } from '../../../api/network.ts';
import type { Family } from '../../../net/ip.ts';
import { type DesiredFragment, type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId, hashedName } from '../../model/database-ids.ts';
import type { NetworkFact } from '../../model/facts.ts';
import { controllerName } from '../../model/names.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey, portGroupKey, switchPortKey } from '../../model/row-keys.ts';
import { DHCP_CLIENT_PORTS, DHCP_SERVER_PORTS } from '../shared/dhcp.ts';

/** Rows are the same whichever machine brings them. @param server of IPv4, which machines renew their leases from */
export const machineGroup = (network: NetworkFact, port: string, server: string): DesiredFragment<OvnNorthbound> => {
  const { id, externalIds } = groupId(network.name);
  const name = hashedName(id);
  const acls = networkFamilies(network).map((family) => askAcl(network.name, name, family, server));
  const group = {
    table: 'Port_Group',
    key: portGroupKey(name),
    columns: { name, acls: acls.map(({ key }) => rowRef(key)), external_ids: externalIds },
  } as const;
  const member = { table: 'Port_Group', row: portGroupKey(name), column: 'ports' } as const;
  return { rows: [...acls, group], members: [{ ...member, value: rowRef(switchPortKey(port)) }] };
};

const groupId = (network: string) =>
  databaseId(controllerName(network), 'VirtualMachine', { 'k8s.ovn.org/name': 'Machines' });

const askAcl = (network: string, group: string, family: Family, server: string): DesiredRow<OvnNorthbound, 'ACL'> => {
  const { id, externalIds } = databaseId(controllerName(network), 'VirtualMachine', {
    'k8s.ovn.org/name': 'Ask',
    'ip-family': String(family),
  });
  const ports = `udp.src == ${DHCP_CLIENT_PORTS[family]} && udp.dst == ${DHCP_SERVER_PORTS[family]}`;
  const asks =
    family === 4
      ? `ip4.dst == {255.255.255.255, ${server}} && ${ports}`
      : `(nd_rs || (ip6.dst == ff02::1:2 && ${ports}))`;
  const { tier, priority } = ACL_RANKS.machineAsks;
  return {
    table: 'ACL',
    key: aclKey(id),
    columns: {
      direction: 'from-lport',
      // Where policies look at what is sent.
      options: { 'apply-after-lb': 'true' },
      action: 'allow',
      priority,
      tier,
      match: `inport == @${group} && ${asks}`,
      external_ids: externalIds,
    },
  };
};
