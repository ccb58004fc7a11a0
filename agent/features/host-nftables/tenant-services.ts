/** Marks for what comes to services of user-defined networks. The maps are empty until there are such services. */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { DEFAULT_NETWORK_ID } from '../../../net/ids.ts';
import { FAMILIES } from '../../../net/ip.ts';
import { managementLinkName } from '../../model/host-names.ts';
import { NFT_SETS, setName } from '../../model/registry/nftables.ts';
import { addressType, chain, ipWord, jump, set } from './text.ts';

export const tenantServiceItems = (): NftItem[] => [
  set({ name: NFT_SETS.markNodePorts.name, type: 'inet_proto . inet_service', value: 'verdict' }),
  ...FAMILIES.map((family) =>
    set({
      name: setName('markExternalIps', family),
      type: `${addressType(family)} . inet_proto . inet_service`,
      value: 'verdict',
    }),
  ),
  chain('tenantServicesIn', [`iifname != "${managementLinkName(DEFAULT_NETWORK_ID)}" ${jump('tenantServiceMark')}`]),
  chain('tenantServicesOut', [jump('tenantServiceMark')]),
  chain('tenantServiceMark', [
    `fib daddr type local meta l4proto . th dport vmap @${NFT_SETS.markNodePorts.name}`,
    ...FAMILIES.map(
      (family) => `${ipWord(family)} daddr . meta l4proto . th dport vmap @${setName('markExternalIps', family)}`,
    ),
  ]),
];
