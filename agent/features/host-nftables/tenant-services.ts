/** Marks for what comes to node ports and external addresses of Services: see `service-nftables`, which fills the maps. */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { FAMILIES } from '../../../net/ip.ts';
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
  chain('tenantServicesIn', [jump('tenantServiceMark')]),
  chain('tenantServicesOut', [jump('tenantServiceMark')]),
  chain('tenantServiceMark', [
    `fib daddr type local meta l4proto . th dport vmap @${NFT_SETS.markNodePorts.name}`,
    ...FAMILIES.map(
      (family) => `${ipWord(family)} daddr . meta l4proto . th dport vmap @${setName('markExternalIps', family)}`,
    ),
  ]),
];
