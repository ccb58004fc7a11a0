/**
 * ClusterIPs, for host-network pods of namespaces with a user-defined network: those of their network, as its pods have them, and the
 * Services of the default network that all networks reach. By the mark of the network, which its VRF and the gateway bridge go by.
 * Who has none is on the default network. OKEP-5193, "Service Access": "restricted to only accessing services" of these, "by nftables
 * rules that match on the cgroup".
 */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { NETWORK_PACKET_MARKS } from '../../model/registry/marks.ts';
import { NFT_SETS } from '../../model/registry/nftables.ts';
import type { BridgeFamily } from '../gateway-bridge/site.ts';
import { POD_LEVELS } from '../host-isolation/chains.ts';
import { chain, ipWord, jump, set, setOf } from './text.ts';

export const hostPodServiceItems = (
  families: readonly Pick<BridgeFamily, 'family' | 'serviceSubnets'>[],
): NftItem[] => [
  set({ name: NFT_SETS.markHostPods.name, type: 'cgroupsv2', value: 'verdict' }),
  chain('hostPodServices', [
    'ct direction reply return',
    ...families
      .filter(({ serviceSubnets }) => serviceSubnets.length > 0)
      .map(({ family, serviceSubnets }) => `${ipWord(family)} daddr ${setOf(serviceSubnets)} ${jump('hostPodMarks')}`),
  ]),
  chain('hostPodMarks', [
    ...POD_LEVELS.map((level) => `socket cgroupv2 level ${level} vmap @${NFT_SETS.markHostPods.name}`),
    `meta mark ${NETWORK_MARKS} ct mark set meta mark`,
    'meta skuid >= 0 return',
    `ct mark ${NETWORK_MARKS} meta mark set ct mark`,
  ]),
];

/**
 * Of the connection, for packets that the kernel sends when the process has closed it, as the last acknowledgement: they have no
 * cgroup, and without them the endpoint would keep it for minutes.
 */
const NETWORK_MARKS = NETWORK_PACKET_MARKS.map((mark) => `0x${mark.toString(16).padStart(8, '0')}`).join('-');
