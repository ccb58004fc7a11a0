/**
 * `udn-agent cleanup`: takes everything of ours off the node. Each part is taken away by itself: where one fails, the
 * others are gone all the same, and the next run does the rest.
 *
 * The API keeps what it says of this node and its pods; the cluster manager and whoever deletes the Node see to that.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type NetlinkWorker, startNetlink } from '../../datapath/netlink/worker/client.ts';
import type { DesiredFragment } from '../../ovsdb/desired/types.ts';
import { collectGarbage } from '../cni/garbage.ts';
import { uninstall } from '../cni/install.ts';
import { VswitchPorts } from '../cni/vswitch-ports.ts';
import type { Database, MirroredReplica } from '../databases/database.ts';
import { createDatabases, type Databases } from '../databases/databases.ts';
import { FEATURES } from '../features/index.ts';
import { logDatabase } from '../log.ts';
import type { CleanupOptions } from '../options.ts';
import { refuseWhileAgentRuns } from './running-agent.ts';
import { whenInstalled } from './when-installed.ts';
import { withdrawalOf } from './withdrawal.ts';

export interface CleanupContext {
  readonly options: CleanupOptions;
  /** Where the build has put the addons. */
  readonly buildFolder: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** @throws Error that names what is still there, and why */
export const cleanUpNode = async ({ options, buildFolder, log, signal }: CleanupContext): Promise<void> => {
  await refuseWhileAgentRuns(options.statusSocket);
  await using resources = new AsyncDisposableStack();
  const netlink = resources.use(startNetlink({ addonPath: join(buildFolder, 'nlsock.node') }));
  const databases = createDatabases(options, (database, observation) => logDatabase(log, database, observation));
  resources.defer(() => databases.close());
  databases.connect();
  const failures: string[] = [];
  for (const { what, remove } of parts(options, databases, netlink)) {
    try {
      await remove(AbortSignal.any([signal, AbortSignal.timeout(PART_MS)]));
      log.info({ what }, 'removed');
    } catch (error) {
      signal.throwIfAborted();
      failures.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (failures.length > 0) throw new Error(`not everything could be removed: ${failures.join('; ')}`);
};

/** For each part. Hundreds of pods and networks take a few seconds. */
const PART_MS = 60_000;

interface Part {
  readonly what: string;
  readonly remove: (signal: AbortSignal) => Promise<void>;
}

/** New pods are kept away first. */
const parts = (options: CleanupOptions, databases: Databases, netlink: NetlinkWorker): readonly Part[] => [
  { what: 'CNI plugin and configuration', remove: () => uninstall(options) },
  { what: 'ports and interfaces of pods', remove: (signal) => removeInterfaces(databases, netlink, signal) },
  { what: 'northbound rows', remove: (signal) => empty(databases.northbound, withdrawal.northbound, signal) },
  { what: 'southbound rows', remove: (signal) => empty(databases.southbound, withdrawal.southbound, signal) },
  { what: 'settings of Open vSwitch', remove: (signal) => removeSettings(databases, signal) },
];

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

/** ovn-controller has to take its flows away while it still knows its databases. */
const removeSettings = async ({ openvswitch, northbound }: Databases, signal: AbortSignal): Promise<void> => {
  await openvswitch.replica.whenSynced(signal);
  const hasController = [...openvswitch.replica.rows('Open_vSwitch')].some(
    ({ external_ids: ids }) => ids['ovn-remote'] !== undefined,
  );
  if (hasController) {
    await whenInstalled(northbound.session, INSTALLED_MS, signal).catch((error: unknown) => {
      throw new Error(`${FLOWS_STAY}: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
  await empty(openvswitch, withdrawal.openvswitch, signal);
};

/** For northd and ovn-controller. */
const INSTALLED_MS = 20_000;
const FLOWS_STAY = 'ovn-controller still has flows of ours, are it and ovn-northd running?';

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
  const left = [...reconciler.unfinished()].map(([owner, state]) =>
    state.kind === 'done' || state.message === undefined ? owner : `${owner}: ${state.message}`,
  );
  if (left.length > 0) throw new Error(left.join(', '));
};
