/** The host's own path MTU messages to other nodes. Those of gateway routers are dropped by the gateway bridge. */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { FAMILIES } from '../../../net/ip.ts';
import { setName } from '../../model/registry/nftables.ts';
import { addressType, chain, set } from '../shared/nftables/text.ts';

export const pathMtuItems = (): NftItem[] => [
  ...FAMILIES.map((family) => set({ name: setName('remoteNodes', family), type: addressType(family) })),
  chain('pathMtu', [
    `ip daddr @${setName('remoteNodes', 4)} icmp type destination-unreachable icmp code 4 drop`,
    `ip6 daddr @${setName('remoteNodes', 6)} icmpv6 type packet-too-big icmpv6 code 0 drop`,
  ]),
];
