/**
 * What goes from the host into the default network by its management port, whoever sends or forwards it. By default nothing: OVN
 * takes the port's address for the kubelet's, and behind the port are the default interfaces of all tenants' pods. So there is a
 * list of what is known to be of somebody who may be reached; an address of a pod that is being plugged, or that is gone, is not on
 * it, nor are groups, broadcasts and link-local addresses, which all pods of the node have.
 */
import { MASQUERADE_OFFSETS } from '../../../api/cluster-config.ts';
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import { gatewayIp } from '../../../api/network.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { addressAt, type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { FAMILIES, type Family } from '../../../net/ip.ts';
import { PACKET_MARKS } from '../../model/registry/marks.ts';
import { setName } from '../../model/registry/nftables.ts';
import type { View } from '../../model/view.ts';
import { type RoutedNetwork, routedNetwork } from '../shared/local-network.ts';
import { addressType, chain, ipWord, markText, set } from '../shared/nftables/text.ts';
import { openPortRules } from './open-port-rules.ts';

export const defaultPortItems = (view: View): NftItem[] => {
  const local = routedNetwork(DEFAULT_NETWORK_NAME, view);
  return [
    ...FAMILIES.map((family) => set({ name: setName('defaultPods', family), type: addressType(family) })),
    chain('defaultPort', [
      ...FAMILIES.flatMap((family) => openPortRules(family, 'return')),
      ...FAMILIES.flatMap(podRules),
      ...(local === undefined ? [] : networkRules(local)),
      ...serviceRules(view),
      ...NEIGHBOUR_RULES,
      'drop',
    ]),
  ];
};

/** An address may be in both sets for a moment, when it goes from one pod to another. */
const podRules = (family: Family): string[] => {
  const address = `${ipWord(family)} daddr`;
  return [
    `${address} @${setName('isolatedPods', family)} drop`,
    `${address} @${setName('defaultPods', family)} return`,
  ];
};

/** Pods of other nodes are kept by the ACLs there, which know this host for none of theirs. */
const networkRules = ({ network, subnets }: RoutedNetwork): string[] =>
  subnets.flatMap((subnet) => {
    const address = `${ipWord(cidrFamily(subnet))} daddr`;
    const isFamily = ({ cidr }: { readonly cidr: Cidr }): boolean => cidrFamily(cidr) === cidrFamily(subnet);
    return [
      `${address} ${gatewayIp(network, subnet)} return`,
      ...network.subnets.filter(isFamily).map(({ cidr }) => `${address} != ${subnet} ${address} ${cidr} return`),
    ];
  });

/** Those whose endpoints of this node alone count: `service-internal`, and what is forwarded to node ports. */
const serviceRules = ({ cluster }: View): string[] => [
  ...cluster.serviceSubnets.map((subnet) => `${ipWord(cidrFamily(subnet))} daddr ${subnet} meta mark ${MARK} return`),
  ...cluster.masqueradeSubnets.map((subnet) => {
    const endpoints = addressAt(subnet, MASQUERADE_OFFSETS.hostEtpLocal);
    return `${ipWord(cidrFamily(subnet))} daddr ${endpoints} ct status dnat return`;
  }),
];

const MARK = markText(PACKET_MARKS.internalTrafficLocal);

/**
 * The kernel finds neighbours, and answers those that look for the port: RFC 4861. A process that makes such messages by hand has a
 * user, and so have joins of groups one behind them, who could say something by the group's address.
 */
export const NEIGHBOUR_RULES = [
  'meta skuid >= 0 drop',
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } return',
] as const;
