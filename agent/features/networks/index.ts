/** Switches and routers of networks, by topology, and each node's part in them. */
import type { Feature } from '../../model/fragment.ts';
import { layer2Network } from './layer2/index.ts';
import { layer3Network } from './layer3/index.ts';
import { localnetNetwork } from './localnet/index.ts';
import { networkNodes } from './nodes.ts';

export const NETWORKS: readonly Feature[] = [layer3Network, layer2Network, localnetNetwork, networkNodes];
