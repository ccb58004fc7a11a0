/** The real places of this node, and what in them is ours. */
import { HostBackend } from '../../datapath/host/backend.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import { MAIN_TABLE } from '../../datapath/netlink/route/types.ts';
import type { NftablesOptions } from '../../datapath/nftables/backend.ts';
import { openNftables } from '../../datapath/nftables/open.ts';
import type { OpenflowBackendOptions } from '../../datapath/openflow/backend.ts';
import { openOpenflowBackend } from '../../datapath/openflow/open.ts';
import type { Cidr } from '../../net/cidr.ts';
import { DEFAULT_NETWORK_ID, MAX_NETWORKS, parseNetworkId } from '../../net/ids.ts';
import { ledgerPath, rememberingSysctls } from '../cleanup/sysctl-ledger.ts';
import { lossIn } from '../cni/filter-keeper.ts';
import { VswitchPortNumbers } from '../databases/port-numbers.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import { INTEGRATION_BRIDGE } from '../model/host-names.ts';
import { COOKIES } from '../model/registry/marks.ts';
import { FORMER_GROUPS, INTEGRATION_SCOPE } from '../model/registry/openflow.ts';
import { MANAGEMENT_PORT_TABLE, RULE_PRIORITIES, TUNNEL_ROUTE_TABLE, vrfTable } from '../model/registry/routing.ts';
import type { Backends } from './node-datapath.ts';

export interface BackendEdges {
  readonly netlink: Pick<Netlink, 'read' | 'apply' | 'watch'>;
  readonly replica: VswitchReplica;
  /** What starts programs without a copy of this process; absent: of a process that is small. */
  readonly spawnAddon?: string;
  readonly masqueradeSubnets: readonly Cidr[];
  /** Of the agent: beside it is kept what settings of the kernel were. */
  readonly statusSocket: string;
  readonly onNftablesWritten?: NftablesOptions['onWritten'];
  readonly sockets?: OpenflowBackendOptions['sockets'];
  readonly onNftablesMonitored?: NftablesOptions['onMonitored'];
}

export const openBackends = ({
  netlink,
  replica,
  spawnAddon,
  masqueradeSubnets,
  statusSocket,
  onNftablesWritten,
  sockets,
  onNftablesMonitored,
}: BackendEdges): Backends => {
  const host = new HostBackend({
    netlink: rememberingSysctls(netlink, ledgerPath(statusSocket)),
    ownership: {
      vrfTables: { first: vrfTable(DEFAULT_NETWORK_ID), last: vrfTable(parseNetworkId(MAX_NETWORKS - 1)) },
      otherTables: [MAIN_TABLE, MANAGEMENT_PORT_TABLE, TUNNEL_ROUTE_TABLE],
      rulePriorities: Object.values(RULE_PRIORITIES),
      neighbourSubnets: masqueradeSubnets,
    },
  });
  const onMonitored = (line: string): void => {
    const loss = lossIn(line);
    if (loss?.kind === 'all') host.loseFilters();
    else if (loss?.kind === 'link') host.loseFilters(loss.link);
    onNftablesMonitored?.(line);
  };
  const groups = new Set<number>(Object.values(FORMER_GROUPS));
  return {
    openflow: openOpenflowBackend({
      spawnAddon,
      sockets,
      ports: new VswitchPortNumbers(replica),
      cookies: Object.values(COOKIES),
      isOurGroup: (group) => groups.has(group),
      only: new Map([[INTEGRATION_BRIDGE, INTEGRATION_SCOPE]]),
    }),
    host,
    nftables: openNftables({ spawnAddon, onWritten: onNftablesWritten, onMonitored }),
  };
};
