/** The rules of Services: the same however many there are. */

import { MANAGEMENT_LINK_PREFIX } from '../../../../api/vrf.ts';
import type { NftItem } from '../../../../datapath/nftables/types.ts';
import { FAMILIES, type Family } from '../../../../net/ip.ts';
import { type NFT_SETS, setName } from '../../../model/registry/nftables.ts';
import { addressType, chain, ipWord, jump, set } from '../../shared/nftables/text.ts';

/** What pods send by a management port is no traffic from outside: it has all endpoints. */
export const serviceChains = (): NftItem[] => [
  ...FAMILIES.flatMap(maps),
  chain('servicesIn', [`iifname != "${MANAGEMENT_LINK_PREFIX}*" ${jump('servicesLocal')}`, jump('services')]),
  chain('servicesOut', [jump('services')]),
  chain(
    'servicesLocal',
    FAMILIES.flatMap((family) => rules(family, 'nodePortsLocal', 'externalIpsLocal')),
  ),
  chain(
    'services',
    FAMILIES.flatMap((family) => rules(family, 'nodePorts', 'externalIps')),
  ),
];

const maps = (family: Family): NftItem[] => {
  const [address, value] = [addressType(family), `${addressType(family)} . inet_service`];
  return [
    ...(['nodePorts', 'nodePortsLocal'] as const).map((which) =>
      set({ name: setName(which, family), type: 'inet_proto . inet_service', value }),
    ),
    ...(['externalIps', 'externalIpsLocal'] as const).map((which) =>
      set({ name: setName(which, family), type: `${address} . inet_proto . inet_service`, value }),
    ),
  ];
};

const rules = (family: Family, nodePorts: keyof typeof NFT_SETS, externalIps: keyof typeof NFT_SETS): string[] => {
  const ip = ipWord(family);
  // With the port that the map has, which nft(8) takes from the type of its values, and does not print.
  const to = `dnat ${ip} to`;
  const port = 'meta l4proto . th dport';
  return [
    `${to} ${ip} daddr . ${port} map @${setName(externalIps, family)}`,
    `${ip} daddr @${setName('nodePortIps', family)} ${to} ${port} map @${setName(nodePorts, family)}`,
  ];
};
