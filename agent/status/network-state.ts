/** How far a network is on this node, from how far those are who want something of it. */
import type { FactStore } from '../model/fact-store.ts';
import { type NetworkFact, nodeSubnetsId } from '../model/facts.ts';

/** How far an owner's fragment is programmed; `done` when nothing is left. */
export interface OwnerState {
  readonly kind: 'done' | 'pending' | 'error';
  readonly message?: string | undefined;
}

export interface NetworkStateSources {
  readonly node: string;
  readonly facts: Pick<FactStore, 'get'>;
  readonly ownerState: (owner: string) => OwnerState;
  /** Who wants what a network has on this node. */
  readonly ownersOfNetwork: (network: string) => readonly string[];
}

/** Looks at the owners of the one network. */
export const networkState = (network: NetworkFact, sources: NetworkStateSources): OwnerState => {
  const { node, facts, ownerState, ownersOfNetwork } = sources;
  const { name, topology, role } = network;
  const subnets = facts.get('nodeSubnets', nodeSubnetsId(node, name)) ?? [];
  const lacksPart = topology === 'layer3' && role !== 'secondary' && subnets.length === 0;
  return worst([...ownersOfNetwork(name).map(ownerState), ...(lacksPart ? [NO_PART] : [])]);
};

/** The first that is in error, else the first that waits, else the first that has something to say. */
export const worst = (states: readonly OwnerState[]): OwnerState =>
  states.find(({ kind }) => kind === 'error') ??
  states.find(({ kind }) => kind === 'pending') ??
  states.find(({ message }) => message !== undefined) ??
  DONE;

const DONE: OwnerState = { kind: 'done' };

const NO_PART: OwnerState = { kind: 'pending', message: 'the cluster manager has given this node no subnet of it' };
