/** What becomes of networks that are gone, in a running agent: until nothing is left of one its id is nobody else's here. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import type { Databases } from '../databases/databases.ts';
import type { ClusterInputs } from '../inputs/cluster-inputs.ts';
import type { Core } from '../wiring/core.ts';
import { GoneNetworks, type GoneNetworksOptions } from './gone-networks.ts';
import type { Reconcilers } from './reconcilers.ts';
import { whenTakenAway } from './when-taken-away.ts';

interface Parts {
  readonly core: Pick<Core, 'facts' | 'engine' | 'feeder'>;
  readonly databases: Databases;
  readonly reconcilers: Reconcilers;
  readonly inputs: Pick<ClusterInputs, 'idPools'>;
  readonly settings: GoneNetworksOptions['settings'];
  readonly conntrack: Conntrack;
  readonly log: Logger;
}

export const startGoneNetworks = (
  { core, databases, reconcilers, inputs, settings, conntrack, log }: Parts,
  resources: AsyncDisposableStack,
): GoneNetworks => {
  const { facts, engine, feeder } = core;
  const { idPools } = inputs;
  const render = (): void => engine.flush();
  const gone = new GoneNetworks({
    ...{ facts, settings, conntrack, clock: systemClock },
    whenTakenAway: (signal) => whenTakenAway({ render, databases, reconcilers }, signal),
    onError: (network, error) =>
      log.warn({ network, err: error }, 'state of a deleted network has not been removed completely'),
  });
  feeder.networks.withhold((id, network, isHere) => {
    const leaving = gone.leaving.get(id);
    if (leaving !== undefined && leaving !== network) return `${leaving}, which this node still has state of`;
    // What is here already is taken away when the API says so, and not before.
    const retired = isHere ? undefined : retiredIn(idPools).get(id);
    return retired === undefined ? undefined : `${retired}, which nodes may still have`;
  });
  resources.defer(gone.onGone((id) => feeder.networks.review(id)));
  resources.defer(
    idPools.subscribe(({ before }) => {
      for (const id of before?.networks.keys() ?? []) if (!retiredIn(idPools).has(id)) feeder.networks.review(id);
    }),
  );
  resources.defer(() => gone.stop());
  return gone;
};

const NONE: ReadonlyMap<number, string> = new Map();

const retiredIn = (idPools: ClusterInputs['idPools']): ReadonlyMap<number, string> =>
  [...idPools.values()][0]?.networks ?? NONE;
