/** Which networks nodes attach pods to, asked by all programs that refuse the others. */
import type { Network, Topology } from './network.ts';

/** Secondary networks by topology. */
const SECONDARY: Readonly<Record<Topology, boolean>> = { layer2: true, layer3: true, localnet: true };

/** False: ids and addresses are allocated, but no node programs the network, and pods that select it are refused. */
export const isServed = ({ role, topology }: Pick<Network, 'role' | 'topology'>): boolean =>
  role !== 'secondary' || SECONDARY[topology];
