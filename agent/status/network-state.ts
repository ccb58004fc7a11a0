/** How far a network is on this node, from how far those are who want something of it. */
import { type Status, worst } from '../../base/reconciler.ts';
import type { FactStore } from '../model/fact-store.ts';
import { type NetworkFact, nodeSubnetsId } from '../model/facts.ts';
import { unmappedNetwork } from '../model/physical-networks.ts';

export interface NetworkStateSources {
  readonly node: string;
  readonly facts: Pick<FactStore, 'get'>;
  readonly ownerState: (owner: string) => Status;
  /** Who wants what a network has on this node. */
  readonly ownersOfNetwork: (network: string) => readonly string[];
}

/** Looks at the owners of the one network. */
export const networkState = (network: NetworkFact, sources: NetworkStateSources): Status => {
  const { node, facts, ownerState, ownersOfNetwork } = sources;
  const { name, topology, physical } = network;
  const subnets = facts.get('nodeSubnets', nodeSubnetsId(node, name)) ?? [];
  const lacksPart = topology === 'layer3' && subnets.length === 0;
  const isUnmapped = physical !== undefined && facts.get('physicalBridge', physical.name) === undefined;
  return worst([
    ...ownersOfNetwork(name).map(ownerState),
    ...(lacksPart ? [NO_PART] : []),
    ...(isUnmapped ? [{ kind: 'failed', message: unmappedNetwork(name, physical.name, node) } as const] : []),
  ]);
};

const NO_PART: Status = {
  kind: 'waiting',
  message: 'the cluster manager has not allocated a subnet of it for this node',
};
