/** The host forwards to pods of the default network by their management port, and they answer to its address. */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { DEFAULT_NETWORK_ID } from '../../../net/ids.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import { managementLinkName } from '../../model/host-names.ts';
import { NFT_SETS, setName } from '../../model/registry/nftables.ts';
import { addressType, chain, ipWord, set } from '../shared/nftables/text.ts';

/** @param addresses of the management port, at most one per family */
export const managementSnatItems = (addresses: readonly Ip[]): NftItem[] => [
  set({ name: NFT_SETS.noSnatNodePorts.name, type: 'inet_proto . inet_service' }),
  ...FAMILIES.flatMap((family) => [
    set({ name: setName('noSnatServices', family), type: `${addressType(family)} . inet_proto . inet_service` }),
    set({ name: setName('noSnatSubnets', family), type: addressType(family), interval: true }),
  ]),
  chain('managementSnat', [
    `oifname != "${managementLinkName(DEFAULT_NETWORK_ID)}" return`,
    `meta l4proto . th dport @${NFT_SETS.noSnatNodePorts.name} return`,
    ...addresses.flatMap((address) => translate(address, ipFamily(address))),
  ]),
];

const translate = (address: Ip, family: Family): string[] => {
  const ip = ipWord(family);
  return [
    `${ip} saddr ${address} return`,
    `${ip} daddr . meta l4proto . th dport @${setName('noSnatServices', family)} return`,
    `${ip} saddr @${setName('noSnatSubnets', family)} return`,
    `meta nfproto ipv${family} snat ${ip} to ${address}`,
  ];
};
