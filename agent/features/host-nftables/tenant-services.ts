/** Marks for what comes to node ports and external addresses of Services: see `service-nftables`, which fills the maps. */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { DEFAULT_NETWORK_ID } from '../../../net/ids.ts';
import { FAMILIES, type Ip, ipFamily } from '../../../net/ip.ts';
import { NETWORK_PACKET_MARKS, networkPacketMark } from '../../model/registry/marks.ts';
import { NFT_SETS, setName } from '../../model/registry/nftables.ts';
import { addressType, chain, ipWord, jump, markText, set } from '../shared/nftables/text.ts';

/** Of user-defined networks, and of the default one. */
const SERVICE_MARKS = [networkPacketMark(DEFAULT_NETWORK_ID), NETWORK_PACKET_MARKS[1]].map(markText).join('-');

/**
 * @param addresses of the node. `fib daddr type local` would not know them in the VRF of a tenant, whose pods come to their own
 * node there; nor is it true of `127.0.0.1` that others come by it.
 */
export const tenantServiceItems = (addresses: readonly Ip[]): NftItem[] => [
  ...FAMILIES.map((family) => set({ name: setName('nodePortIps', family), type: addressType(family) })),
  ...addresses.map(
    (key): NftItem => ({ kind: 'element', element: { set: setName('nodePortIps', ipFamily(key)), key } }),
  ),
  set({ name: NFT_SETS.markNodePorts.name, type: 'inet_proto . inet_service', value: 'verdict' }),
  ...FAMILIES.map((family) =>
    set({
      name: setName('markExternalIps', family),
      type: `${addressType(family)} . inet_proto . inet_service`,
      value: 'verdict',
    }),
  ),
  chain('tenantServicesIn', [
    // An error about an answer (a smaller path MTU) names no port: it goes where the connection went. One about what was asked
    // (port unreachable) is a reply and goes back as it came.
    `ct state related ct direction original ct mark ${SERVICE_MARKS} meta mark set ct mark return`,
    jump('tenantServiceMark'),
    `ct state new meta mark ${SERVICE_MARKS} ct mark set meta mark`,
  ]),
  chain('tenantServicesOut', [jump('tenantServiceMark')]),
  chain('tenantServiceMark', [
    // An answer to the node may be to a port that is a Service's, too, and goes back as it came.
    'ct direction reply return',
    ...FAMILIES.map(
      (family) =>
        `${ipWord(family)} daddr @${setName('nodePortIps', family)} meta l4proto . th dport vmap @${NFT_SETS.markNodePorts.name}`,
    ),
    ...FAMILIES.map(
      (family) => `${ipWord(family)} daddr . meta l4proto . th dport vmap @${setName('markExternalIps', family)}`,
    ),
  ]),
];
