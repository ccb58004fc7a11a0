/** What the agent knows of the networks of its node, as the reporter asks for it, and what may change that. */
import type { NetworkState } from '../../../api/node-network-report.ts';
import { DONE, type State, type Status, worst } from '../../../base/reconciler.ts';
import type { Databases } from '../../databases/databases.ts';
import type { NodeDatapath } from '../../reconcile/node-datapath.ts';
import { DATABASE_NAMES, statusOf } from '../../reconcile/reconcilers.ts';
import type { Core } from '../../wiring/core.ts';
import { networkOfOwner } from '../network-objects.ts';
import { networkState } from '../network-state.ts';
import type { ReportSources } from '../report.ts';
import type { NetworkOnNode } from './ledger.ts';
import type { NetworkReporter } from './reporter.ts';

export interface NodeNetworks {
  readonly core: Pick<Core, 'feeder' | 'facts' | 'onRendered'>;
  readonly databases: Pick<Databases, (typeof DATABASE_NAMES)[number]>;
  readonly datapath: Pick<NodeDatapath, 'onLook'>;
  readonly sources: Pick<
    ReportSources,
    'node' | 'facts' | 'reconcilers' | 'isHere' | 'ownersOfNetwork' | 'diagnostics'
  >;
}

/** Looks at one network. Undefined: this node is not to have it. */
export const lookAtNetwork = (parts: NodeNetworks, name: string): NetworkOnNode | undefined => {
  const { sources, core } = parts;
  const network = sources.facts.get('network', name);
  if (network === undefined || !sources.isHere(name)) return undefined;
  const { kind, message } = networkState(network, {
    ...sources,
    ownerState: (owner) => ownerState(sources, owner),
  });
  return { id: network.id, createdAt: core.feeder.networks.createdAt(name), state: STATES[kind], message };
};

export const ownerState = (
  { reconcilers, diagnostics }: Pick<ReportSources, 'reconcilers' | 'diagnostics'>,
  owner: string,
): Status => worst([statusOf(reconcilers, owner), diagnosed(owner, diagnostics)]);

const STATES: Readonly<Record<State, NetworkState>> = {
  done: 'Ready',
  unsupported: 'Ready',
  pending: 'Pending',
  waiting: 'Pending',
  failed: 'Failed',
};

/** What could not even be rendered. */
const diagnosed = (owner: string, diagnostics: ReportSources['diagnostics']): Status => {
  const found = diagnostics.get(owner)?.find(({ severity }) => severity === 'error');
  return found === undefined ? DONE : { kind: 'failed', message: found.message };
};

/** Touches all networks, and from then on the one that an event is about. @returns what ends it */
export const followNetworks = (
  { core, databases, datapath }: NodeNetworks,
  reporter: Pick<NetworkReporter, 'touch' | 'touchUnready'>,
): (() => void) => {
  const touchOwner = (owner: string): void => {
    const network = networkOfOwner(owner);
    if (network !== undefined) reporter.touch(network);
  };
  const ends = [
    core.facts.listen((kind, id) => {
      if (kind === 'network' || kind === 'networkInUse') reporter.touch(id);
    }),
    core.feeder.networks.onRedefined((network) => reporter.touch(network)),
    core.onRendered((owners) => owners.forEach(touchOwner)),
    ...DATABASE_NAMES.map((name) => databases[name].reconciler.onStatus(({ owner }) => touchOwner(owner))),
    datapath.onLook((owners) => {
      owners.forEach(touchOwner);
      reporter.touchUnready();
    }),
  ];
  for (const network of core.facts.ids('network')) reporter.touch(network);
  return () => {
    for (const end of ends) end();
  };
};
