/** How long OVN takes with what is in the northbound database, by its own counts: `NB_Global` in ovn-nb(5). */
import { OvsdbSession, parseRemotes, Replica } from '../../ovsdb/index.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { NB_SOCKET } from '../../sandbox/plan/daemons.ts';
import type { OvnNode } from './ovn-node.ts';

/** By performance.now(). */
export interface OvnDone {
  /** northd has written the southbound database. */
  readonly northd: number;
  /** ovn-controller has written br-int, and ovs-vswitchd has it. */
  readonly controller: number;
}

export interface OvnClock extends AsyncDisposable {
  /** Resolves when everything that is there now has been dealt with. */
  done(signal: AbortSignal): Promise<OvnDone>;
  /** Gives a load balancer other backends, as somebody would who knows which row that is. @param vip where it is reached */
  setBackends(vip: string, backends: string): Promise<void>;
  backends(vip: string): string;
}

export const openOvnClock = async ({ pathOf }: Pick<OvnNode, 'pathOf'>): Promise<OvnClock> => {
  const replica = new Replica({
    model: ovnNorthbound,
    tables: { NB_Global: ['nb_cfg', 'sb_cfg', 'hv_cfg'], Load_Balancer: ['vips'] },
  });
  const session = new OvsdbSession({ database: replica.database, remotes: parseRemotes(`unix:${pathOf(NB_SOCKET)}`) });
  session.mirror(replica);
  session.start();
  await replica.whenSynced(AbortSignal.timeout(SYNC_MS));
  const loadBalancer = (vip: string) => {
    const row = [...replica.rows('Load_Balancer')].find(({ vips }) => vip in vips);
    if (row === undefined) throw new Error(`no load balancer at ${vip}`);
    return row;
  };
  return {
    done: async (signal) => {
      await session.transact([{ op: 'mutate', table: 'NB_Global', where: [], mutations: [['nb_cfg', '+=', 1]] }]);
      // The server sends the update before it replies.
      const [global] = replica.rows('NB_Global');
      if (global === undefined) throw new Error('no NB_Global');
      const { _uuid: uuid, nb_cfg: desired } = global;
      const until = async (count: 'sb_cfg' | 'hv_cfg'): Promise<number> => {
        await replica.waitFor('NB_Global', { uuid }, (row) => row[count] >= desired, signal);
        return performance.now();
      };
      const [northd, controller] = await Promise.all([until('sb_cfg'), until('hv_cfg')]);
      // A northd with much to do reports the chassis before it reports itself.
      return { northd, controller: Math.max(northd, controller) };
    },
    backends: (vip) => loadBalancer(vip).vips[vip] ?? '',
    setBackends: async (vip, backends) => {
      const { _uuid, vips } = loadBalancer(vip);
      const row = { vips: ['map', Object.entries({ ...vips, [vip]: backends })] } as const;
      await session.transact([
        { op: 'update', table: 'Load_Balancer', where: [['_uuid', '==', ['uuid', _uuid]]], row },
      ]);
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
};

const SYNC_MS = 30_000;
