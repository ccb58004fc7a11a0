/**
 * ClusterIPs of user-defined networks, for host-network pods of namespaces with one: those of their own network. By its mark, which its
 * VRF and the gateway bridge go by. Other processes of the node reach none, and ClusterIPs of the default network are what they are for
 * all processes. OKEP-5193, "Service Access": such pods are restricted to Services of the default network and of their own one, "by
 * iptables/nftables rules added that match on the cgroup".
 *
 * CAP_NET_RAW is enough for SO_MARK, and host-network pods have it by default: a packet that comes with the mark of a network took it by
 * itself. On the way to a management port a packet may come here a second time, by its VRF; those are closed anyhow (`host-isolation`).
 */
import { MANAGEMENT_LINK_PREFIX } from '../../../api/vrf.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { FAMILIES } from '../../../net/ip.ts';
import { NETWORK_PACKET_MARKS } from '../../model/registry/marks.ts';
import { NFT_SETS, setName } from '../../model/registry/nftables.ts';
import { POD_LEVELS } from '../host-isolation/chains.ts';
import { addressType, chain, ipWord, jump, set } from './text.ts';

export const hostPodServiceItems = (): NftItem[] => [
  ...FAMILIES.map((family) => set({ name: setName('tenantClusterIps', family), type: addressType(family) })),
  set({ name: NFT_SETS.markHostPods.name, type: 'cgroupsv2', value: 'verdict' }),
  chain('networkMarks', [`oifname != "${MANAGEMENT_LINK_PREFIX}*" meta mark ${NETWORK_MARKS} drop`]),
  chain('hostPodServices', [
    'ct direction reply return',
    ...FAMILIES.map(
      (family) => `${ipWord(family)} daddr @${setName('tenantClusterIps', family)} ${jump('hostPodMarks')}`,
    ),
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
