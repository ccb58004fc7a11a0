/**
 * When nothing is programmed on this node any more that no owner desires: in the databases, by the databases' daemons in
 * the datapath, as flows of the gateway bridge, in the host's network stack and in nftables.
 */
import { messageOf } from '../../base/error-message.ts';
import type { Reconciler } from '../../base/reconciler.ts';
import { whenInstalled } from '../cleanup/when-installed.ts';
import type { Databases } from '../databases/databases.ts';
import { DATABASE_NAMES, type Reconcilers, whenIdle } from './reconcilers.ts';

export interface Programmed {
  /** Renders what is not rendered yet. */
  readonly render: () => void;
  readonly databases: Pick<Databases, 'northbound' | 'southbound' | 'openvswitch'>;
  readonly reconcilers: Reconcilers;
}

/** For northd and ovn-controller, which may have much to do. */
const INSTALLED_MS = 20_000;

/** @throws Error with what is left, or who does not answer; the signal's reason */
export const whenTakenAway = async (
  { render, databases, reconcilers }: Programmed,
  signal: AbortSignal,
): Promise<void> => {
  render();
  await whenIdle(reconcilers, signal);
  const left = [...disconnected(databases), ...[...reconcilers].flatMap(leftIn)];
  if (left.length > 0) throw new Error(`not removed yet: ${left.slice(0, MAX_NAMED).join('; ')}`);
  // An agent alone, as in tests of it: nobody makes flows of the rows.
  const hasController = [...databases.openvswitch.replica.rows('Open_vSwitch')].some(
    ({ external_ids: ids }) => ids['ovn-remote'] !== undefined,
  );
  if (!hasController) return;
  await whenInstalled(databases.northbound.session, INSTALLED_MS, signal).catch((error: unknown) => {
    throw new Error(
      `ovn-controller may still have flows: are ovn-controller and ovn-northd running? ${messageOf(error)}`,
    );
  });
};

const MAX_NAMED = 3;

const disconnected = (databases: Programmed['databases']): string[] =>
  DATABASE_NAMES.flatMap((name) =>
    databases[name].session.state.kind === 'connected' ? [] : [`the ${name} database is not connected`],
  );

const leftIn = ([name, reconciler]: readonly [string, Reconciler]): string[] => {
  const { failing, hasCompared } = reconciler.queue();
  if (failing !== undefined || !hasCompared) return [`${name} does not answer${failing && `: ${failing.message}`}`];
  return reconciler.problems().flatMap(({ isDesired, owner, key }) => (isDesired ? [] : [`${key ?? owner} (${name})`]));
};
