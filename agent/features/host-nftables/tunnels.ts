/**
 * The host does for networks what the gateway bridge does (`gateway-bridge/tunnel-guard.ts`): what it forwards comes to no tunnel of a
 * node, and this node's takes only what comes from a node. Open vSwitch's tunnels look at addresses as well; those of others may not.
 */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { FAMILIES, ipFamily } from '../../../net/ip.ts';
import { setName } from '../../model/registry/nftables.ts';
import { GENEVE, TUNNEL_PORTS } from '../../model/registry/tunnels.ts';
import type { View } from '../../model/view.ts';
import { nodeAddresses } from '../gateway-bridge/tunnel-guard.ts';
import { addressType, chain, ipWord, set } from './text.ts';

/** As nft prints a set: sorted. */
const PORTS = TUNNEL_PORTS.map(({ protocol, port }) => `${protocol} . ${port}`)
  .sort()
  .join(', ');

/** To tunnels of nodes. */
export const toTunnels = (): string[] =>
  FAMILIES.map(
    (family) => `meta l4proto . th dport { ${PORTS} } ${ipWord(family)} daddr @${setName('nodeIps', family)} drop`,
  );

/**
 * @param ofHost Open vSwitch's own tunnels do not pass the hook `output`: the userspace datapath. The kernel's do, with the user of the
 * process whose packet is inside, so there nothing tells them from a process that makes a header by hand
 */
export const tunnelItems = (ofHost: boolean): NftItem[] => [
  ...FAMILIES.map((family) => set({ name: setName('nodeIps', family), type: addressType(family) })),
  chain(
    'tunnelsIn',
    FAMILIES.map(
      (family) =>
        `${GENEVE.protocol} dport ${GENEVE.port} ${ipWord(family)} saddr != @${setName('nodeIps', family)} drop`,
    ),
  ),
  ...(ofHost ? [chain('tunnelsOut', toTunnels())] : []),
];

export const nodeElements = (node: string, view: View): NftItem[] =>
  nodeAddresses(node, view).map((key) => ({
    kind: 'element',
    element: { set: setName('nodeIps', ipFamily(key)), key },
  }));
