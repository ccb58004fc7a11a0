/** How rules name their targets on a network. */
import type { NetworkFact } from '../facts.ts';

/** By their ports, where the network has no addresses that anybody gave: a secondary one without IPAM. */
export const hasTargetGroups = ({ role, subnets }: Pick<NetworkFact, 'role' | 'subnets'>): boolean =>
  role === 'secondary' && subnets.length === 0;
