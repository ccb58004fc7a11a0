/**
 * DHCP for virtual machines: KubeVirt hands a pod's interface over to the machine in it, which then asks for its addresses. ovn-controller
 * answers at the port, so that an answer is from this node and for this port alone. One row serves all ports that are to be told the same.
 * The name is an option of the port for IPv4; for IPv6 OVN has it in the row alone, so that there each name has one. Localnets are left to the DHCP server of the physical network (ADR 131).
 */
import type { PodNetworkEntry } from '../../../api/annotations/pod-networks.ts';
import { cidrFamily, networkOfInterface } from '../../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../../net/ip.ts';
import { macFromIp } from '../../../net/mac.ts';
import { type DesiredColumns, type DesiredFragment, type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import type { NetworkFact, PodFact } from '../../model/facts.ts';
import { controllerName } from '../../model/names.ts';
import { dhcpOptionsKey } from '../../model/row-keys.ts';
import type { View } from '../../model/view.ts';
import { merge } from '../shared/ovn/merge.ts';
import { machineGroup } from './machine-group.ts';

type Row = DesiredRow<OvnNorthbound, 'DHCP_Options'>;

interface MachineDhcp {
  readonly northbound: DesiredFragment<OvnNorthbound>;
  /** Of its port: without DHCP they are empty. */
  readonly columns: Pick<DesiredColumns<OvnNorthbound['Logical_Switch_Port']>, 'dhcpv4_options' | 'dhcpv6_options'>;
  /** Of the port's column `options`. */
  readonly options: Readonly<Record<string, string>>;
}

/** @param pod of this node @param port its name */
export const machineDhcp = (
  { machine }: Pick<PodFact, 'machine'>,
  port: string,
  { network, entry }: { readonly network: NetworkFact; readonly entry: PodNetworkEntry },
  view: View,
): MachineDhcp => {
  if (machine === undefined || network.topology !== 'layer2') return NONE;
  const [four, six] = FAMILIES.map((family) => optionsOf(family, machine, { network, entry }, view));
  const rows = [four, six].filter((row) => row !== undefined);
  if (rows.length === 0) return NONE;
  return {
    northbound: merge({ rows }, machineGroup(network, port, SERVER)),
    columns: { dhcpv4_options: four && rowRef(four.key), dhcpv6_options: six && rowRef(six.key) },
    options: four === undefined ? {} : { hostname: quoted(machine) },
  };
};

/** northd writes it into a flow as it is: a text needs its quotes. */
const quoted = (name: string): string => `"${name}"`;

const NONE: MachineDhcp = {
  northbound: {},
  columns: { dhcpv4_options: undefined, dhcpv6_options: undefined },
  options: {},
};

/** Undefined where the port has no address of the family. */
const optionsOf = (
  family: Family,
  machine: string,
  { network, entry }: { readonly network: NetworkFact; readonly entry: PodNetworkEntry },
  view: View,
): Row | undefined => {
  const address = entry.ipAddresses.find((one) => cidrFamily(one) === family);
  if (address === undefined) return undefined;
  const subnet = networkOfInterface(address);
  const gateway = entry.gatewayIps.find((ip) => ipFamily(ip) === family);
  const { id, externalIds } = databaseId(controllerName(network.name), 'VirtualMachine', {
    // Colons divide the line `k8s.ovn.org/id`.
    'k8s.ovn.org/cidr': subnet.replaceAll(':', '.'),
    'k8s.ovn.org/name': family === 6 ? machine : (gateway ?? 'no-gateway'),
  });
  const servers = nameServers(family, network, view);
  const options = family === 4 ? optionsOf4(network, gateway) : { server_id: SERVER_MAC_6, fqdn: quoted(machine) };
  return {
    table: 'DHCP_Options',
    key: dhcpOptionsKey(id),
    columns: {
      cidr: subnet,
      options: { ...options, ...(servers.length > 0 && { dns_server: listOf(servers) }) },
      external_ids: externalIds,
    },
  };
};

/** ovn-nb(5), DHCPv4 options. IPv6 has its routers and its MTU from router advertisements. */
const optionsOf4 = ({ mtu }: NetworkFact, router: Ip | undefined): Record<string, string> => ({
  server_id: SERVER,
  server_mac: macFromIp(parseIp(SERVER)),
  lease_time: LEASE_SECONDS,
  mtu: String(mtu),
  ...(router !== undefined && { router }),
});

/** Link-local addresses of nobody: machines renew by unicast, and the port answers that, too. Those of ovn-kubernetes. */
const SERVER = '169.254.1.1';
const SERVER_MAC_6 = macFromIp(parseIp('fe80::1'));
/** An address is the machine's while its pod lives: the lease only says how often it asks again. */
const LEASE_SECONDS = '3500';

/** Those of the cluster that pods of every network reach. A secondary network leads to none. */
const nameServers = (family: Family, { role }: NetworkFact, view: View): readonly Ip[] =>
  role === 'secondary'
    ? []
    : view.allowedDefaultServices.flatMap((key) => {
        const service = view.service(key);
        const isForNames = service?.ports.some(({ protocol, port }) => protocol === 'UDP' && port === 53);
        return isForNames === true ? (service?.clusterIps.filter((ip) => ipFamily(ip) === family) ?? []) : [];
      });

/** In braces where there are several: OVN reads it as an expression of its own language. */
const listOf = (ips: readonly Ip[]): string => (ips.length === 1 ? String(ips[0]) : `{${ips.join(', ')}}`);
