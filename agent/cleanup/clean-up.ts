/**
 * `udn-agent cleanup`: takes everything of ours off the node. Each part is taken away by itself: where one fails, the
 * others are gone all the same, and the next run does the rest.
 *
 * The API keeps what it says of this node and its pods; the cluster manager and whoever deletes the Node see to that.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../../base/error-message.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import { type NetlinkWorker, startNetlink } from '../../datapath/netlink/worker/client.ts';
import type { DesiredFragment } from '../../ovsdb/desired/types.ts';
import type { OvsdbSession } from '../../ovsdb/session/session.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { collectGarbage } from '../cni/garbage.ts';
import { uninstall } from '../cni/install.ts';
import { VswitchPorts } from '../cni/vswitch-ports.ts';
import { restoreOperations } from '../databases/controller-target.ts';
import type { Database, DatabaseName, MirroredReplica } from '../databases/database.ts';
import { createDatabases, type Databases } from '../databases/databases.ts';
import { FEATURES } from '../features/index.ts';
import { logDatabase } from '../log.ts';
import { mappedBridge } from '../node/uplink/bridge-mappings.ts';
import { uplinkEffects } from '../node/uplink/effects.ts';
import { mappingOperations } from '../node/uplink/mapping-operations.ts';
import { Uplink } from '../node/uplink/uplink.ts';
import type { CleanupOptions } from '../options/options.ts';
import type { Backends, DatapathBackend } from '../reconcile/node-datapath.ts';
import { claimNode } from '../status/running-agent.ts';
import { removeConnectionLimits, removeLeftLimits } from './connection-limits.ts';
import { emptyBackend, emptyBridge, leaveIntegrationBridge, removeMasquerade } from './datapath-parts.ts';
import { forgetConnections, removeChassis, removeSockets } from './left-behind.ts';
import { unpatchOperations } from './patch-ports.ts';
import { silentDatabases } from './silent-databases.ts';
import { ledgerPath, restoreGuarded, restoreSysctls } from './sysctl-ledger.ts';
import { whenInstalled } from './when-installed.ts';
import { withdrawalOf } from './withdrawal.ts';

export interface CleanupContext {
  readonly options: CleanupOptions;
  /** Where the build has put the addons. */
  readonly buildFolder: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The places that are no databases. */
  readonly backends?: ((edges: CleanupEdges) => Backends) | undefined;
  readonly conntrack?: Conntrack | undefined;
}

export interface CleanupEdges {
  readonly databases: Databases;
  readonly netlink: NetlinkWorker;
}

/** @throws Error that names what is still there, and why */
export const cleanUpNode = async (context: CleanupContext): Promise<void> => {
  const { options, buildFolder, log, signal, conntrack } = context;
  const claim = await claimNode(options.statusSocket, buildFolder);
  await using resources = new AsyncDisposableStack();
  resources.defer(() => claim.remove());
  const netlink = resources.use(startNetlink({ addonPath: join(buildFolder, 'nlsock.node') }));
  const databases = createDatabases(options, (database, observation) => {
    // One that is absent is reported once, at the end, and not each time that it is tried.
    if (observation.kind !== 'state') logDatabase(log, database, observation);
  });
  resources.defer(() => databases.close());
  databases.connect();
  const backends = context.backends?.({ databases, netlink });
  resources.defer(async () => {
    await Promise.all(Object.values(backends ?? {}).map((backend: Backends[DatapathBackend]) => backend.close()));
  });
  await removeAll({ options, databases, netlink, backends, conntrack, log }, signal);
};

/** @throws Error that names what is still there, and why */
export const removeAll = async (site: CleanupSite, signal: AbortSignal): Promise<void> => {
  const failures: string[] = [];
  const silent = await silentDatabases(site.databases, site.options, signal);
  const kept = new Map<string, string[]>();
  for (const { what, needs, remove } of parts(site)) {
    const reason = needs === undefined ? undefined : silent.get(needs);
    if (reason !== undefined) {
      kept.set(reason, [...(kept.get(reason) ?? []), what]);
      continue;
    }
    try {
      await remove(AbortSignal.any([signal, AbortSignal.timeout(PART_MS)]));
      site.log.info({ what }, 'removed');
    } catch (error) {
      signal.throwIfAborted();
      failures.push(`${what}: ${messageOf(error)}`);
    }
  }
  for (const [reason, whats] of kept) failures.push(`${reason} (${whats.join(', ')})`);
  if (failures.length > 0) throw new Error(`not everything could be removed: ${failures.join('; ')}`);
};

/** For each part. Hundreds of pods and networks take a few seconds. */
const PART_MS = 60_000;

interface Part {
  readonly what: string;
  /** Without this database there is nothing that could be done. */
  readonly needs?: DatabaseName;
  readonly remove: (signal: AbortSignal) => Promise<void>;
}

export interface CleanupSite extends CleanupEdges {
  readonly options: CleanupOptions;
  readonly backends: Backends | undefined;
  readonly conntrack?: Conntrack | undefined;
  readonly log: Pick<Logger, 'info'>;
}

/**
 * New pods are kept away first. What others made and we changed comes after what is ours alone: as long as its flows are
 * on it, the gateway bridge has to be found by its mapping, and the NIC gets back what is on the bridge in the end.
 */
const parts = (site: CleanupSite): readonly Part[] => {
  const { options, databases, netlink, backends, conntrack } = site;
  let limits: ReadonlySet<number> = new Set();
  return [
    { what: 'CNI plugin and configuration', remove: () => uninstall(options) },
    { what: 'sockets of the agent', remove: () => removeSockets(options) },
    // Before the ports: of one that is gone ovn-controller leaves the limit.
    {
      what: 'limits of connections',
      needs: 'northbound',
      remove: async (signal) => {
        limits = await removeConnectionLimits(databases, signal);
      },
    },
    {
      what: 'ports and interfaces of pods',
      needs: 'openvswitch',
      remove: (signal) => removeInterfaces(databases, netlink, signal),
    },
    { what: 'frame filters of pods', remove: (signal) => clearFilters(netlink, signal) },
    {
      what: 'northbound rows',
      needs: 'northbound',
      remove: (signal) => empty(databases.northbound, withdrawal.northbound, signal),
    },
    {
      what: 'southbound rows',
      needs: 'southbound',
      remove: (signal) => empty(databases.southbound, withdrawal.southbound, signal),
    },
    ...(backends === undefined
      ? []
      : [
          {
            what: 'routes to loopback addresses',
            remove: (signal: AbortSignal) => restoreGuarded(netlink, ledgerPath(options.statusSocket), signal),
          },
          { what: 'nftables', remove: (signal: AbortSignal) => emptyBackend(backends.nftables, signal) },
          {
            what: 'flows of the integration bridge',
            needs: 'openvswitch' as const,
            remove: (signal: AbortSignal) => leaveIntegrationBridge(backends.openflow, signal),
          },
          { what: 'links, routes and rules', remove: (signal: AbortSignal) => emptyBackend(backends.host, signal) },
        ]),
    { what: 'gateway bridge', needs: 'openvswitch', remove: (signal) => leaveBridge(site, signal) },
    {
      what: 'settings of Open vSwitch',
      needs: 'openvswitch',
      remove: (signal) => removeSettings(databases, limits, signal),
    },
    {
      what: 'settings of the kernel',
      remove: (signal) => restoreSysctls(netlink, ledgerPath(options.statusSocket), signal),
    },
    { what: 'interface of the gateway bridge', needs: 'openvswitch', remove: (signal) => giveBack(site, signal) },
    ...(conntrack === undefined
      ? []
      : [
          {
            what: 'connections',
            needs: 'openvswitch' as const,
            remove: (signal: AbortSignal) => forgetConnections(conntrack, options.cluster, signal),
          },
        ]),
    {
      what: 'chassis',
      needs: 'southbound',
      remove: (signal) => removeChassis(databases.southbound.session, databases.openvswitch.replica, signal),
    },
  ];
};

const clearFilters = async (netlink: NetlinkWorker, signal: AbortSignal): Promise<void> => {
  const [failure] = await netlink.apply({ ops: [{ op: 'filters.clear' }] }, signal);
  if (failure !== undefined) throw failure.error;
};

/**
 * As long as the ports of networks are on the bridge its flows stay: they are what keeps tenants apart. Its mapping goes
 * last, so that the next run finds the bridge when this one fails.
 */
const leaveBridge = async (
  { options, databases, netlink, backends }: CleanupSite,
  signal: AbortSignal,
): Promise<void> => {
  const { session, replica } = databases.openvswitch;
  await awaitController(databases, signal);
  const [row] = replica.rows('Open_vSwitch');
  const ids = row?.external_ids ?? {};
  const bridge = mappedBridge(ids['ovn-bridge-mappings']);
  if (bridge === undefined) return;
  await transactSome(session, unpatchOperations(replica, bridge), signal);
  if (backends !== undefined) await emptyBridge(backends.openflow, bridge, signal);
  await removeMasquerade(netlink, bridge, options.cluster.masqueradeSubnets, signal);
  await transactSome(session, mappingOperations(ids, undefined), signal);
};

const transactSome = async (
  session: Pick<OvsdbSession, 'transact'>,
  operations: readonly Operation[],
  signal: AbortSignal,
): Promise<void> => {
  if (operations.length > 0) await session.transact(operations, signal);
};

const giveBack = async ({ options, databases, netlink, log }: CleanupSite, signal: AbortSignal): Promise<void> => {
  const { session, replica } = databases.openvswitch;
  const { masqueradeSubnets } = options.cluster;
  const inputs = { options: { interface: undefined }, masqueradeSubnets };
  const uplink = new Uplink(inputs, uplinkEffects({ session, replica, netlink }), ({ kind }) =>
    log.info({ step: kind }, 'gateway bridge changed'),
  );
  const state = await uplink.giveBack(signal);
  if (state.kind === 'absent') throw state.error;
};

const withdrawal = withdrawalOf(FEATURES);

const removeInterfaces = async (
  { openvswitch }: Databases,
  { pods: interfaces }: NetlinkWorker,
  signal: AbortSignal,
): Promise<void> => {
  await openvswitch.replica.whenSynced(signal);
  const ports = new VswitchPorts(openvswitch.session, openvswitch.replica);
  await collectGarbage({ interfaces, ports, kept: [] }, signal);
};

const removeSettings = async (
  databases: Databases,
  limits: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<void> => {
  await awaitController(databases, signal);
  const { session, replica } = databases.openvswitch;
  await removeLeftLimits(session, limits, signal);
  const [row] = replica.rows('Open_vSwitch');
  await transactSome(session, restoreOperations(row?.external_ids ?? {}), signal);
  await empty(databases.openvswitch, withdrawal.openvswitch, signal);
};

/** ovn-controller has to take its flows away while it still knows its databases. */
const awaitController = async ({ openvswitch, northbound }: Databases, signal: AbortSignal): Promise<void> => {
  await openvswitch.replica.whenSynced(signal);
  const hasController = [...openvswitch.replica.rows('Open_vSwitch')].some(
    ({ external_ids: ids }) => ids['ovn-remote'] !== undefined,
  );
  if (!hasController) return;
  await whenInstalled(northbound.session, INSTALLED_MS, signal).catch((error: unknown) => {
    throw new Error(`${FLOWS_STAY}: ${messageOf(error)}`);
  });
};

/** For northd and ovn-controller. */
const INSTALLED_MS = 20_000;
const FLOWS_STAY = 'ovn-controller still has flows of ovn-udn: are ovn-controller and ovn-northd running?';

/** Without any other wishes than the withdrawal, everything of ours is garbage. */
const empty = async <DB, R extends MirroredReplica>(
  database: Database<DB, R>,
  withdrawn: DesiredFragment<DB> | undefined,
  signal: AbortSignal,
): Promise<void> => {
  const { desired, reconciler } = database;
  if (withdrawn !== undefined) desired.set('cleanup', withdrawn);
  await database.replica.whenSynced(signal);
  database.reconcile();
  await reconciler.whenIdle(signal);
  const left = reconciler
    .problems()
    .map(({ owner, status: { message } }) => (message === undefined ? owner : `${owner}: ${message}`));
  if (left.length > 0) throw new Error(left.join(', '));
};
