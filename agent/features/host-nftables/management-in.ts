/**
 * What comes in by management ports. A pod may address a frame to the port's MAC: it goes around the router that translates, into the
 * host's VRF and from there to wherever that has a route. So only what the router has translated may begin something, what answers
 * somebody on the host, and what keeps the link: neighbour discovery, which no router sends on (RFC 4861 §7.1).
 *
 * Networks have the same addresses, and those of hosts outside: to conntrack, what a tenant's pod sends to the node is a reply to
 * whoever has sent to that address by the uplink, another network's pods and the host itself included. So a reply by a tenant's
 * management port belongs to a connection that the host has led there: to an address of its own on that port, or of a Service.
 *
 * The hook is after conntrack (-200), and before anything of ours that goes by destinations. A packet passes it twice, the second time
 * with the VRF as its interface (Documentation/networking/vrf.rst): the first time is enough.
 */

import type { ClusterConfig } from '../../../api/cluster-config.ts';
import { networkMasqueradeAddresses } from '../../../api/masquerade.ts';
import { managementIp, networkFamilies } from '../../../api/network.ts';
import { DYING_LINK_GROUP, POD_LINK_GROUP } from '../../../api/pod-links.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { DEFAULT_NETWORK_ID } from '../../../net/ids.ts';
import { FAMILIES, type Ip, ipFamily } from '../../../net/ip.ts';
import type { RoutedNetworkFact } from '../../model/facts.ts';
import { managementLinkName } from '../../model/host-names.ts';
import { setName } from '../../model/registry/nftables.ts';
import { addressType, chain, ipWord, set } from '../shared/nftables/text.ts';
import { NETWORK_MARKS } from './host-pod-services.ts';
import { toTunnels } from './tunnels.ts';

/**
 * Where Open vSwitch reads links by packet sockets (userspace datapath), the kernel sees what pods send as well: as if it had come to the
 * host by an interface of its own. Nothing of pods comes to the host but through the switch.
 */
const fromPodLinks = (): string => `iifgroup { ${POD_LINK_GROUP}, ${DYING_LINK_GROUP} } drop`;

const DEFAULT_LINK = managementLinkName(DEFAULT_NETWORK_ID);

/** @param podSubnets of the default network, on all nodes: its pods come as themselves, but not those that have another network */
export const managementInItems = (podSubnets: readonly Cidr[], isEncrypted: boolean): NftItem[] => [
  ...FAMILIES.flatMap((family) =>
    (['managementSources', 'managementIps'] as const).map((name) =>
      set({ name: setName(name, family), type: `ifname . ${addressType(family)}` }),
    ),
  ),
  chain('managementIn', [
    fromPodLinks(),
    'iifname != "ovn-k8s-mp*" return',
    ...toTunnels(isEncrypted),
    'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 accept',
    // First what most packets are: those that pods send on by the host.
    ...FAMILIES.map((family) => `iifname . ${ipWord(family)} saddr @${setName('managementSources', family)} accept`),
    `iifname "${DEFAULT_LINK}" ct state related accept`,
    `iifname "${DEFAULT_LINK}" ct direction reply accept`,
    'ct direction reply ct status dnat accept',
    `ct direction reply ct mark ${NETWORK_MARKS} accept`,
    ...FAMILIES.map(
      (family) => `ct direction reply iifname . ${ipWord(family)} daddr @${setName('managementIps', family)} accept`,
    ),
    `iifname != "${DEFAULT_LINK}" drop`,
    ...FAMILIES.map((family) => `${ipWord(family)} saddr @${setName('isolatedPods', family)} drop`),
    ...podSubnets.map((subnet) => `${ipWord(cidrFamily(subnet))} saddr ${subnet} accept`),
    'drop',
  ]),
];

/** As which the router sends a network's packets to the host. None while the masquerade subnets have no address for it. */
export const managementSources = (network: RoutedNetworkFact, cluster: ClusterConfig): NftItem[] => {
  const families = networkFamilies(network);
  const addresses = networkMasqueradeAddresses(cluster, network.id, 'management') ?? [];
  return addresses
    .filter((ip) => families.includes(ipFamily(ip)))
    .map((ip) => elementOf('managementSources', network, ip));
};

/** The host's own addresses on a network's port. @param subnets of this node */
export const managementIps = (network: RoutedNetworkFact, subnets: readonly Cidr[]): NftItem[] =>
  subnets.map((subnet) => elementOf('managementIps', network, managementIp(network, subnet)));

const elementOf = (set: 'managementSources' | 'managementIps', { id, name }: RoutedNetworkFact, ip: Ip): NftItem => ({
  kind: 'element',
  element: { set: setName(set, ipFamily(ip)), key: `"${managementLinkName(id)}" . ${ip}`, comment: name },
});
