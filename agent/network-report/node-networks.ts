/** What the agent knows of the networks of its node, as the reporter asks for it, and what may change that. */
import type { NetworkState } from '../../api/node-network-report.ts';
import type { Core } from '../core.ts';
import type { Databases } from '../databases/databases.ts';
import type { NodeDatapath } from '../reconcile/node-datapath.ts';
import { worseState } from '../status/datapath-state.ts';
import { networkOfOwner } from '../status/network-objects.ts';
import { networkState, type OwnerState } from '../status/network-state.ts';
import type { ReportSources } from '../status/report.ts';
import type { NetworkOnNode } from './ledger.ts';
import type { NetworkReporter } from './reporter.ts';

export interface NodeNetworks {
  readonly core: Pick<Core, 'feeder' | 'facts' | 'onRendered'>;
  readonly databases: Pick<Databases, 'northbound' | 'openvswitch'>;
  readonly datapath: Pick<NodeDatapath, 'unseenOf' | 'onLook'>;
  readonly sources: Pick<ReportSources, 'node' | 'facts' | 'ownerState' | 'isHere' | 'ownersOfNetwork' | 'diagnostics'>;
}

/** Looks at one network. Undefined: this node is not to have it. */
export const lookAtNetwork = (parts: NodeNetworks, name: string): NetworkOnNode | undefined => {
  const { sources, databases, datapath, core } = parts;
  const network = sources.facts.get('network', name);
  if (network === undefined || !sources.isHere(name)) return undefined;
  const ownerState = (owner: string): OwnerState =>
    [
      sources.ownerState(owner),
      databases.openvswitch.reconciler.status(owner),
      diagnosed(owner, sources.diagnostics),
      unseen(owner, datapath),
    ].reduce(worseState);
  const { kind, message } = networkState(network, { ...sources, ownerState });
  return { id: network.id, createdAt: core.feeder.networks.createdAt(name), state: STATES[kind], message };
};

const STATES: Readonly<Record<OwnerState['kind'], NetworkState>> = {
  done: 'Ready',
  pending: 'Pending',
  error: 'Failed',
};

/** What could not even be rendered. */
const diagnosed = (owner: string, diagnostics: ReportSources['diagnostics']): OwnerState => {
  const found = diagnostics.get(owner)?.find(({ severity }) => severity === 'error');
  return found === undefined ? { kind: 'done' } : { kind: 'error', message: found.message };
};

const unseen = (owner: string, datapath: NodeNetworks['datapath']): OwnerState => {
  const found = datapath.unseenOf(owner);
  if (found === undefined) return { kind: 'done' };
  const { backend, because } = found;
  return { kind: 'pending', message: `${backend} is not written yet${because === undefined ? '' : `: ${because}`}` };
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
    ...[databases.northbound, databases.openvswitch].map(({ reconciler }) =>
      reconciler.onStatus(({ owner }) => touchOwner(owner)),
    ),
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
