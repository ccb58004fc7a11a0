/**
 * The rules of host isolation. They are the same for any number of pods and networks, which are elements of sets. What lets
 * somebody through by a cgroup may be refused: the cgroup is gone at this moment, or the kernel has no `nft_socket`. So it is
 * in chains of its own. A chain is loaded as a whole or not at all, and those with the drops must always be.
 */

import { MANAGEMENT_LINK_PREFIX } from '../../../api/vrf.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { DEFAULT_NETWORK_ID } from '../../../net/ids.ts';
import { FAMILIES, type Family } from '../../../net/ip.ts';
import type { CgroupFact } from '../../model/facts.ts';
import { managementLinkName } from '../../model/host-names.ts';
import { NFT_SETS, setName } from '../../model/registry/nftables.ts';
import { notByPodLinks, POD_LEVELS, throughDefaultPort } from '../shared/nftables/pods.ts';
import { addressType, chain, ipWord, jump, set } from '../shared/nftables/text.ts';
import { NEIGHBOUR_RULES } from './default-port.ts';
import { openPortRules } from './open-port-rules.ts';

/** @param kubelet undefined: no host process may start connections */
export const isolationItems = (kubelet: CgroupFact | undefined): NftItem[] => [
  ...FAMILIES.flatMap((family) => [
    set({ name: setName('isolatedPods', family), type: addressType(family) }),
    set({ name: setName('openPorts', family), type: `${addressType(family)} . inet_proto . inet_service` }),
    set({ name: setName('openIcmp', family), type: addressType(family) }),
  ]),
  chain('isolation', [
    notByPodLinks(),
    ...FAMILIES.flatMap((family) => openPortRules(family, 'accept')),
    ...FAMILIES.flatMap(dropRules),
    throughDefaultPort(),
  ]),
  chain('isolationKubelet', kubelet === undefined ? [] : [kubeletRule(kubelet)]),
];

/** The comment makes it another rule when the cgroup is another one at the same path: the kernel holds its id. */
const kubeletRule = ({ path, level, id }: CgroupFact): string =>
  [`socket cgroupv2 level ${level} "${path}" accept`, ...(id === undefined ? [] : [`comment "cgroup ${id}"`])].join(
    ' ',
  );

/**
 * A packet that a process sends has its user. What has none is sent by the kernel for a connection that was let through
 * once: the last acknowledgement of one that the kubelet has closed has lost its cgroup. Without it, pods would keep
 * closed probes for minutes.
 */
const dropRules = (family: Family): string[] => {
  const toPods = `${ipWord(family)} daddr @${setName('isolatedPods', family)}`;
  return [
    `${toPods} ${jump('isolationKubelet')}`,
    `${toPods} meta skuid >= 0 drop`,
    `${toPods} ct state established,related accept`,
    `${toPods} drop`,
  ];
};

/**
 * To tenants by their management ports, from the moment that the link is there: replies to what pods have started pass, and what
 * the kernel makes for a connection that was let through. Another process does not pass because it takes the addresses and ports of
 * such a connection (as pings of two processes may), nor with packets that are not tracked (neighbour discovery made by hand).
 */
export const managementIsolationItems = (): NftItem[] => [
  set({ name: NFT_SETS.hostPods.name, type: 'cgroupsv2 . ifname' }),
  chain('managementIsolation', [
    `oifname != "${MANAGEMENT_LINK_PREFIX}*" return`,
    `oifname "${managementLinkName(DEFAULT_NETWORK_ID)}" return`,
    jump('managementIsolationPods'),
    'ct direction reply accept',
    ...NEIGHBOUR_RULES,
    'ct state established,related accept',
    'drop',
  ]),
  chain(
    'managementIsolationPods',
    POD_LEVELS.map((level) => `socket cgroupv2 level ${level} . oifname @${NFT_SETS.hostPods.name} accept`),
  ),
];
