/** OVN's databases of a node, as far as the benchmarks wait for what is in them. */
import { clusterRouterName } from '../../agent/model/names.ts';
import { type Operation, OvsdbSession, parseRemotes, Replica, type WireValue } from '../../ovsdb/index.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { ovnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import { NB_SOCKET, SB_SOCKET } from '../../sandbox/plan/daemons.ts';
import type { BenchNode } from './bench-node.ts';

export interface NodeDatabases extends AsyncDisposable {
  /** Resolves when so many networks are there, by their cluster routers: each has one, and gateway routers beside it. */
  untilNetworks(count: number): Promise<void>;
  /** Resolves when all these switch ports are there and `check` is true for whether each is up. */
  untilPorts(names: readonly string[], check: (up: boolean) => boolean, signal: AbortSignal): Promise<void>;
  /** Resolves when northd has taken their bindings away. */
  removePorts(names: readonly string[], signal: AbortSignal): Promise<void>;
  /** ovn-nb(5), `NB_Global.hv_cfg`: resolves when all before is done on the node. */
  settled(signal: AbortSignal): Promise<void>;
}

export const openDatabases = async (node: BenchNode): Promise<NodeDatabases> => {
  await using resources = new AsyncDisposableStack();
  const northbound = new Replica({
    model: ovnNorthbound,
    tables: {
      Logical_Switch_Port: ['name', 'up'],
      Logical_Router: ['name'],
      NB_Global: ['nb_cfg', 'hv_cfg'],
    },
  });
  const southbound = new Replica({ model: ovnSouthbound, tables: { Port_Binding: ['logical_port'] } });
  const session = await mirror(node, NB_SOCKET, northbound, resources);
  await mirror(node, SB_SOCKET, southbound, resources);
  const owner = resources.move();
  return {
    untilNetworks: (count) => untilClusterRouters(northbound, count),
    untilPorts: async (names, check, signal) => {
      const waits = names.map((key) =>
        northbound.waitFor('Logical_Switch_Port', { index: 'name', key }, ({ up }) => check(up ?? false), signal),
      );
      await Promise.all(waits);
    },
    removePorts: async (names, signal) => {
      const rows = names.flatMap((name) => northbound.find('Logical_Switch_Port', 'name', name));
      await session.transact(removeOperations(rows.map(({ _uuid }) => _uuid)));
      const gone = names.map((key) => southbound.waitUntilGone('Port_Binding', { index: 'logical_port', key }, signal));
      await Promise.all(gone);
    },
    settled: async (signal) => {
      await session.transact([{ op: 'mutate', table: 'NB_Global', where: [], mutations: [['nb_cfg', '+=', 1]] }]);
      // The server sends the update before it replies.
      const [global] = northbound.rows('NB_Global');
      if (global === undefined) throw new Error('no NB_Global');
      const { _uuid: uuid, nb_cfg: requested } = global;
      await northbound.waitFor('NB_Global', { uuid }, ({ hv_cfg }) => hv_cfg >= requested, signal);
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
};

const mirror = async (
  node: BenchNode,
  socket: string,
  replica: Parameters<OvsdbSession['mirror']>[0] & { whenSynced(signal: AbortSignal): Promise<void> },
  resources: AsyncDisposableStack,
): Promise<OvsdbSession> => {
  const session = new OvsdbSession({
    database: replica.database,
    remotes: parseRemotes(`unix:${node.pathOf(socket)}`),
  });
  session.mirror(replica);
  session.start();
  resources.defer(() => session.close());
  await replica.whenSynced(AbortSignal.timeout(SYNC_MS));
  return session;
};

const SYNC_MS = 30_000;

/** Takes ports out of their switches, after which they are gone. @param ports by uuid; also port groups forget them then */
const removeOperations = (ports: readonly string[]): Operation[] =>
  ports.map((port): Operation => {
    const element: WireValue = ['set', [['uuid', port]]];
    return {
      op: 'mutate',
      table: 'Logical_Switch',
      where: [['ports', 'includes', element]],
      mutations: [['ports', 'delete', element]],
    };
  });

const untilClusterRouters = (
  northbound: {
    rows(table: 'Logical_Router'): Iterable<{ readonly name: string }>;
    onUpdate(listener: () => void): () => void;
  },
  networks: number,
): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      const routers = [...northbound.rows('Logical_Router')].filter(({ name }) => name.endsWith(CLUSTER_ROUTER));
      if (routers.length < networks) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = northbound.onUpdate(look);
    look();
  });

const CLUSTER_ROUTER = clusterRouterName('default');
