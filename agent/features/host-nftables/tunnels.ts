/**
 * The host does for networks what the gateway bridge does (`gateway-bridge/tunnel-guard.ts`): what it forwards comes to no tunnel of a
 * node, and this node's takes only what comes from a node. Open vSwitch's tunnels look at addresses as well; those of others may not.
 * Where tunnels are encrypted, nothing of them is sent or taken in clear.
 */
import { MANAGEMENT_LINK_PREFIX } from '../../../api/vrf.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { FAMILIES, type Family, ipFamily } from '../../../net/ip.ts';
import { PROCESS_MARK } from '../../model/registry/marks.ts';
import { setName } from '../../model/registry/nftables.ts';
import { GENEVE, IPSEC, TUNNEL_PORTS } from '../../model/registry/tunnels.ts';
import type { View } from '../../model/view.ts';
import { addressType, chain, ipWord, markText, set } from '../shared/nftables/text.ts';
import { nodeAddresses } from '../shared/node-addresses.ts';
import { NETWORK_MARKS } from './host-pod-services.ts';

/** As nft prints a set: sorted. */
const PORTS = TUNNEL_PORTS.map(({ protocol, port }) => `${protocol} . ${port}`)
  .sort()
  .join(', ');

const IKE_PORTS = IPSEC.ports.join(', ');

const PROCESS = markText(PROCESS_MARK);

const AT_TUNNELS = `meta l4proto . th dport { ${PORTS} }`;
const toNodes = (family: Family): string => `${ipWord(family)} daddr @${setName('nodeIps', family)}`;

/** To tunnels of nodes. @param isEncrypted also to what encrypts them */
export const toTunnels = (isEncrypted: boolean): string[] =>
  FAMILIES.flatMap((family) =>
    [AT_TUNNELS, ...(isEncrypted ? [`udp dport { ${IKE_PORTS} }`, 'meta l4proto { esp, ah }'] : [])].map(
      (what) => `${what} ${toNodes(family)} drop`,
    ),
  );

interface TunnelOptions {
  /** The gateway bridge, once it is there. */
  readonly bridge: string | undefined;
  readonly isEncrypted: boolean;
}

/**
 * On the kernel's datapath a tunnel's packet has the socket of what is inside (`skb_scrub_packet` keeps it), and so the user of a process
 * that has sent by `ovn-k8s-mp0` or the gateway bridge. It has its mark, too: what comes to the hook `output` without one is the
 * process' own. Packets of pods, and all of the userspace datapath, have no socket there. A mark takes CAP_NET_RAW (socket(7), SO_MARK).
 */
export const tunnelItems = ({ bridge, isEncrypted }: TunnelOptions): NftItem[] => [
  ...FAMILIES.map((family) => set({ name: setName('nodeIps', family), type: addressType(family) })),
  chain('tunnelsIn', [
    ...FAMILIES.map((family) => `${geneve()} ${ipWord(family)} saddr != @${setName('nodeIps', family)} drop`),
    ...(isEncrypted ? [IN_CLEAR.received] : []),
  ]),
  chain('tunnelsOut', [
    `meta mark & ${PROCESS} == ${PROCESS} return`,
    `meta mark ${NETWORK_MARKS} return`,
    ...FAMILIES.map((family) => `${AT_TUNNELS} ${toNodes(family)} meta skuid >= 0 drop`),
  ]),
  ...(isEncrypted ? [chain('tunnelsInClear', [IN_CLEAR.sent])] : []),
  chain(
    'processMarks',
    [`${MANAGEMENT_LINK_PREFIX}*`, ...(bridge === undefined ? [] : [bridge])].map(
      (link) => `oifname "${link}" meta mark != ${NETWORK_MARKS} meta skuid >= 0 meta mark set meta mark | ${PROCESS}`,
    ),
  ),
];

const geneve = (): string => `${GENEVE.protocol} dport ${GENEVE.port}`;

/**
 * nft(8), "meta" and "rt": came out of a packet of IPsec; goes into one. Whatever the addresses are: the kernel goes by its policies
 * alone, which are not there before the other end is configured, and go when strongSwan stops.
 */
const IN_CLEAR = {
  received: `${geneve()} meta ipsec missing drop`,
  sent: `${geneve()} rt ipsec missing drop`,
};

export const nodeElements = (node: string, view: View): NftItem[] =>
  nodeAddresses(node, view).map((key) => ({
    kind: 'element',
    element: { set: setName('nodeIps', ipFamily(key)), key },
  }));
