/**
 * ClusterIPs of user-defined networks, for host-network pods of namespaces with one: those of their own network. By its mark, which its
 * VRF and the gateway bridge go by. Other processes of the node reach none, and ClusterIPs of the default network are what they are for
 * all processes. OKEP-5193, "Service Access": such pods are restricted to Services of the default network and of their own one, "by
 * iptables/nftables rules added that match on the cgroup".
 *
 * CAP_NET_RAW is enough for SO_MARK, and host-network pods have it by default: a packet that comes with the mark of a network took it by
 * itself. Only ClusterIPs are looked at: a tunnel's packet comes here with the mark of what is in it, and management ports are closed
 * anyhow (`host-isolation`).
 */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { FAMILIES } from '../../../net/ip.ts';
import { NETWORK_PACKET_MARKS } from '../../model/registry/marks.ts';
import { NFT_SETS, setName } from '../../model/registry/nftables.ts';
import { POD_LEVELS } from '../shared/nftables/pods.ts';
import { addressType, chain, ipWord, jump, markText, set } from '../shared/nftables/text.ts';

export const NETWORK_MARKS = NETWORK_PACKET_MARKS.map(markText).join('-');

/** @param balanced where the host sends what is for load balancers: Services, and ports of pods */
export const hostPodServiceItems = (balanced: readonly Cidr[]): NftItem[] => [
  ...FAMILIES.map((family) => set({ name: setName('tenantClusterIps', family), type: addressType(family) })),
  set({ name: NFT_SETS.markHostPods.name, type: 'cgroupsv2', value: 'verdict' }),
  chain(
    'networkMarks',
    balanced.map((subnet) => `${ipWord(cidrFamily(subnet))} daddr ${subnet} meta mark ${NETWORK_MARKS} drop`),
  ),
  chain('hostPodServices', [
    'ct direction reply return',
    ...FAMILIES.map(
      (family) => `${ipWord(family)} daddr @${setName('tenantClusterIps', family)} ${jump('hostPodMarks')}`,
    ),
  ]),
  // Of the connection, for packets that the kernel sends when the process has closed it, as the last acknowledgement: they have no
  // cgroup, and without them the endpoint would keep it for minutes.
  chain('hostPodMarks', [
    ...POD_LEVELS.map((level) => `socket cgroupv2 level ${level} vmap @${NFT_SETS.markHostPods.name}`),
    `meta mark ${NETWORK_MARKS} ct mark set meta mark`,
    'meta skuid >= 0 return',
    `ct mark ${NETWORK_MARKS} meta mark set ct mark`,
  ]),
];
