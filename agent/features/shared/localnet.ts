/** A localnet as this node's features need it. */
import type { PhysicalNetwork } from '../../../api/network.ts';
import type { NetworkFact } from '../../model/facts.ts';
import type { View } from '../../model/view.ts';
import { programmedNetwork } from './local-network.ts';

export interface LocalnetFact extends NetworkFact {
  readonly physical: PhysicalNetwork;
}

/** Undefined where this node does not have it, and of other networks. */
export const localnetOf = (name: string, view: View): LocalnetFact | undefined => {
  const network = programmedNetwork(name, view)?.network;
  const physical = network?.topology === 'localnet' ? network.physical : undefined;
  return network === undefined || physical === undefined ? undefined : { ...network, physical };
};
