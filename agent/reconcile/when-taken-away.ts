/**
 * When nothing is programmed on this node any more that nobody wants: in the databases, by the databases' daemons in the
 * datapath, as flows of the gateway bridge, in the host's network stack and in nftables.
 */
import { messageOf } from '../../base/error-message.ts';
import { whenInstalled } from '../cleanup/when-installed.ts';
import type { Databases } from '../databases/databases.ts';
import { BACKEND_NAMES, type NodeDatapath } from './node-datapath.ts';

export interface Programmed {
  /** Renders what is not rendered yet. */
  readonly render: () => void;
  readonly databases: Pick<Databases, 'northbound' | 'southbound' | 'openvswitch'>;
  readonly datapath: NodeDatapath;
}

const DATABASES = ['northbound', 'southbound', 'openvswitch'] as const;

/** For northd and ovn-controller, which may have much to do. */
const INSTALLED_MS = 20_000;

/** @throws Error with what is left, or who does not answer; the signal's reason */
export const whenTakenAway = async (
  { render, databases, datapath }: Programmed,
  signal: AbortSignal,
): Promise<void> => {
  render();
  await Promise.all(DATABASES.map((name) => databases[name].reconciler.whenIdle(signal)));
  await datapath.whenIdle(signal);
  const left = [...leftInDatabases(databases), ...leftInPlaces(datapath)];
  if (left.length > 0) throw new Error(`not taken away yet: ${left.slice(0, MAX_NAMED).join('; ')}`);
  // An agent alone, as in tests of it: nobody makes flows of the rows.
  const hasController = [...databases.openvswitch.replica.rows('Open_vSwitch')].some(
    ({ external_ids: ids }) => ids['ovn-remote'] !== undefined,
  );
  if (!hasController) return;
  await whenInstalled(databases.northbound.session, INSTALLED_MS, signal).catch((error: unknown) => {
    throw new Error(`ovn-controller may still have flows, are it and ovn-northd running? ${messageOf(error)}`);
  });
};

const MAX_NAMED = 3;

/** What nobody wants goes by the name of its unit, or of who wanted it. */
const leftInDatabases = (databases: Programmed['databases']): string[] =>
  DATABASES.flatMap((name) => {
    const { reconciler, desired, session } = databases[name];
    if (session.state.kind !== 'connected') return [`the ${name} database is not connected`];
    return [...reconciler.unfinished()].flatMap(([owner]) =>
      desired.fragment(owner) === undefined ? [`${owner} in the ${name} database`] : [],
    );
  });

const leftInPlaces = (datapath: NodeDatapath): string[] =>
  BACKEND_NAMES.flatMap((name) => {
    const { store, problems } = datapath[name];
    const { failing, hasCompared } = datapath[name].queue();
    if (failing !== undefined || !hasCompared) return [`${name} does not answer${failing && `: ${failing.message}`}`];
    return [...problems.keys()].filter((key) => !store.wanted.has(key)).map((key) => `${key} (${name})`);
  });
