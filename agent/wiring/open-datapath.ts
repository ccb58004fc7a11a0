/**
 * What keeps flows, the host's network stack and nftables as desired, of a running agent. Nothing is written before
 * `start`.
 */
import { systemClock } from '../../base/clock.ts';
import { openConntrack } from '../../datapath/conntrack/conntrack.ts';
import type { FilterWatch } from '../cni/keep-filters.ts';
import { logDatapath } from '../log.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import { DATAPATH_BACKENDS, NodeDatapath } from '../reconcile/node-datapath.ts';
import { openBackends } from '../reconcile/open-backends.ts';
import { ServiceConnections } from '../reconcile/service-connections.ts';
import { followSwitch } from '../reconcile/switch-return.ts';
import { countNetworkObjects } from '../status/network-objects.ts';
import { type AgentContext, spawnAddonIn } from './context.ts';
import type { Edges } from './edges.ts';

export interface OpenDatapath {
  readonly datapath: NodeDatapath;
  /** Hears of changes in nftables. */
  readonly filters: FilterWatch;
}

/** @param resources ends it with the agent */
export const openDatapath = (
  { options, buildFolder, log }: AgentContext,
  { netlink, databases, metrics, drift }: Edges,
  resources: AsyncDisposableStack,
): OpenDatapath => {
  const { replica, session } = databases.openvswitch;
  const returns = followSwitch({
    ...{ session, replica },
    onReconnect: () => log.info('ovs-vswitchd is back: reconnecting ovn-controller'),
    onError: (error) => log.warn({ err: error }, 'ovn-controller not reconnected to br-int'),
  });
  resources.defer(() => returns.close());
  const connections = new ServiceConnections({
    conntrack: openConntrack(spawnAddonIn(buildFolder)),
    clock: systemClock,
    onError: (error) => log.warn({ err: error }, 'connections to moved Services are not deleted yet'),
  });
  resources.defer(() => connections.stop());
  const filters: FilterWatch = {};
  const backends = openBackends({
    netlink,
    replica,
    spawnAddon: spawnAddonIn(buildFolder),
    masqueradeSubnets: options.cluster.masqueradeSubnets,
    statusSocket: options.statusSocket,
    sockets: returns.sockets,
    onNftablesWritten: (keys, desired) => connections.written(keys, (key) => desired.has(key)),
    onNftablesMonitored: (line) => filters.keeper?.onMonitored(line),
  });
  const datapath = new NodeDatapath({
    backends,
    clock: systemClock,
    observe: (backend, observation) => {
      metrics.datapath(backend, observation);
      if (observation.kind === 'drift') drift.repaired(backend);
      logDatapath(log, backend, observation);
    },
  });
  databases.openvswitch.writeAfter((write) => datapath.afterFlows(write));
  resources.defer(() => datapath.stop());
  observeDatapath(metrics, datapath);
  return { datapath, filters };
};

const observeDatapath = ({ gauges }: AgentMetrics, datapath: NodeDatapath): void => {
  gauges('udn_agent_wanted_objects', () =>
    DATAPATH_BACKENDS.map((backend) => [{ backend }, datapath[backend].store.desired.size] as const),
  );
  gauges('udn_agent_unfinished_objects', () =>
    DATAPATH_BACKENDS.flatMap((backend) =>
      Object.entries(datapath[backend].counts).map(([state, count]) => [{ backend, state }, count] as const),
    ),
  );
  gauges('udn_agent_network_objects', () =>
    countNetworkObjects(datapath).map(({ network, backend, count }) => [{ network, backend }, count] as const),
  );
};
