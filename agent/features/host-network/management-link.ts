/** The host's own port on a network: an internal port of br-int that ovn-controller binds to the management port. */
import { managementIp, managementMac } from '../../../api/network.ts';
import type { DesiredFilter, HostItem } from '../../../datapath/host/types.ts';
import { type Cidr, cidrFamily, interfaceAddress, prefixLength } from '../../../net/cidr.ts';
import type { Family } from '../../../net/ip.ts';
import type { Mac } from '../../../net/mac.ts';
import { type DesiredFragment, foreignRef, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OpenVSwitch } from '../../../ovsdb/models/open-vswitch.gen.ts';
import type { RoutedNetworkFact } from '../../model/facts.ts';
import { INTEGRATION_BRIDGE, managementLinkName } from '../../model/host-names.ts';
import { managementPortName } from '../../model/names.ts';
import { interfaceKey, portKey } from '../../model/row-keys.ts';
import type { RoutedNetwork } from '../shared/local-network.ts';
import { linkSetting } from './items.ts';

/** What ovs-vswitchd is to make. `Interface.external_ids` is shared with ovn-controller: only our entries are managed. */
export const managementOvsPort = (network: RoutedNetworkFact, node: string, mac: Mac): DesiredFragment<OpenVSwitch> => {
  const name = managementLinkName(network.id);
  return {
    rows: [
      {
        table: 'Interface',
        key: interfaceKey(name),
        columns: { name, type: 'internal', mac, mtu_request: network.mtu },
      },
      { table: 'Port', key: portKey(name), columns: { name, interfaces: [rowRef(interfaceKey(name))] } },
    ],
    members: [
      {
        table: 'Bridge',
        row: foreignRef('Bridge', { name: INTEGRATION_BRIDGE }),
        column: 'ports',
        value: rowRef(portKey(name)),
      },
    ],
    patches: [
      {
        table: 'Interface',
        at: { name },
        entries: {
          external_ids: {
            'iface-id': managementPortName(network.name, node),
            ...(network.role === 'default' ? {} : { 'k8s.ovn.org/network': network.name }),
          },
        },
      },
    ],
  };
};

/** @param vrf that the link belongs to; absent for the default network's */
export const managementLink = ({ network, subnets }: RoutedNetwork, vrf?: string): HostItem[] => {
  const name = managementLinkName(network.id);
  const mac = managementMac(network, subnets);
  const families = [...new Set(subnets.map(cidrFamily))].sort();
  return [
    {
      kind: 'link',
      link: { kind: 'foreign', name, mac, mtu: network.mtu, ...(vrf === undefined ? {} : { master: vrf }) },
    },
    { kind: 'filter', filter: { link: name, rules: OF_THE_HOST } },
    ...subnets.map((subnet) => managementAddress(network, name, subnet)),
    ...families.flatMap((family) => linkSettings(name, family)),
  ];
};

/**
 * What the host's IP sends there has passed nftables' hook `output` or `forward` (`host-isolation`). A frame of a packet socket has not: it
 * is from a process, and has no route. What the kernel itself sends without one (ARP) is of no process.
 */
const OF_THE_HOST: DesiredFilter['rules'] = [
  { tests: [{ origin: 'routed' }], verdict: 'accept' },
  { tests: [{ origin: 'process' }], verdict: 'drop' },
  { tests: [], verdict: 'accept' },
];

/**
 * On layer 2 every node has the same address, each behind a switch of its own: an answer from another node would be no
 * conflict, so nobody is asked (RFC 4862 §5.4).
 */
const managementAddress = (network: RoutedNetworkFact, link: string, subnet: Cidr): HostItem => ({
  kind: 'address',
  address: {
    link,
    address: interfaceAddress(managementIp(network, subnet), prefixLength(subnet)),
    ...(cidrFamily(subnet) === 6 ? { noDad: true } : {}),
  },
});

/**
 * Packets from pods to services and to the outside pass through the host. Their source is not always where the host would
 * send a reply by this link, hence the loose `rp_filter` (RFC 3704 §2.4). Pods must not be able to change where the host's
 * routes go (RFC 4861 §6.2, RFC 1122 §3.2.2.2).
 */
const linkSettings = (link: string, family: Family): HostItem[] => [
  linkSetting(family, link, 'forwarding', '1'),
  linkSetting(family, link, 'accept_redirects', '0'),
  family === 4 ? linkSetting(family, link, 'rp_filter', '2') : linkSetting(family, link, 'accept_ra', '0'),
];
