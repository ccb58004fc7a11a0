/**
 * The host does for networks what the gateway bridge does (`gateway-bridge/tunnel-guard.ts`): what it forwards comes to no tunnel of a
 * node, and this node's takes only what comes from a node. Open vSwitch's tunnels look at addresses as well; those of others may not.
 */
import { MANAGEMENT_LINK_PREFIX } from '../../../api/vrf.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { FAMILIES, type Family, ipFamily } from '../../../net/ip.ts';
import { PROCESS_MARK } from '../../model/registry/marks.ts';
import { setName } from '../../model/registry/nftables.ts';
import { GENEVE, TUNNEL_PORTS } from '../../model/registry/tunnels.ts';
import type { View } from '../../model/view.ts';
import { nodeAddresses } from '../gateway-bridge/tunnel-guard.ts';
import { NETWORK_MARKS } from './host-pod-services.ts';
import { addressType, chain, ipWord, markText, set } from './text.ts';

/** As nft prints a set: sorted. */
const PORTS = TUNNEL_PORTS.map(({ protocol, port }) => `${protocol} . ${port}`)
  .sort()
  .join(', ');

const PROCESS = markText(PROCESS_MARK);

/** To tunnels of nodes. */
const atTunnels = (family: Family): string =>
  `meta l4proto . th dport { ${PORTS} } ${ipWord(family)} daddr @${setName('nodeIps', family)}`;

export const toTunnels = (): string[] => FAMILIES.map((family) => `${atTunnels(family)} drop`);

/**
 * On the kernel's datapath a tunnel's packet has the socket of what is inside (`skb_scrub_packet` keeps it), and so the user of a process
 * that has sent by `ovn-k8s-mp0` or the gateway bridge. It has its mark, too: what comes to the hook `output` without one is the
 * process' own. Packets of pods, and all of the userspace datapath, have no socket there. A mark takes CAP_NET_RAW (socket(7), SO_MARK).
 */
export const tunnelItems = (bridge: string | undefined): NftItem[] => [
  ...FAMILIES.map((family) => set({ name: setName('nodeIps', family), type: addressType(family) })),
  chain(
    'tunnelsIn',
    FAMILIES.map(
      (family) =>
        `${GENEVE.protocol} dport ${GENEVE.port} ${ipWord(family)} saddr != @${setName('nodeIps', family)} drop`,
    ),
  ),
  chain('tunnelsOut', [
    `meta mark & ${PROCESS} == ${PROCESS} return`,
    `meta mark ${NETWORK_MARKS} return`,
    ...FAMILIES.map((family) => `${atTunnels(family)} meta skuid >= 0 drop`),
  ]),
  chain(
    'processMarks',
    [`${MANAGEMENT_LINK_PREFIX}*`, ...(bridge === undefined ? [] : [bridge])].map(
      (link) => `oifname "${link}" meta mark != ${NETWORK_MARKS} meta skuid >= 0 meta mark set meta mark | ${PROCESS}`,
    ),
  ),
];

export const nodeElements = (node: string, view: View): NftItem[] =>
  nodeAddresses(node, view).map((key) => ({
    kind: 'element',
    element: { set: setName('nodeIps', ipFamily(key)), key },
  }));
