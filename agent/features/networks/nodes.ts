/**
 * A node's part in a network: of this node what is its own, of any other what reaches it. One feature for all topologies,
 * as there is a fragment for every node with every network.
 */
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { programmedNetwork } from '../shared/local-network.ts';
import { layer2NodeRows } from './layer2/index.ts';
import { layer3NodeRows } from './layer3/index.ts';

export const networkNodes: FeatureOver<'networkNode'> = {
  name: 'network-nodes',
  over: 'networkNode',
  render: ({ network: name, node: nodeName }, view) => {
    const network = programmedNetwork(name, view)?.network;
    const node = network && view.nodeFact(nodeName);
    if (network === undefined || node === undefined) return EMPTY_FRAGMENT;
    // What nodes have of a localnet is joined by the physical network.
    if (network.topology === 'localnet') return EMPTY_FRAGMENT;
    const rows = network.topology === 'layer2' ? layer2NodeRows : layer3NodeRows;
    return { northbound: rows(network, node, view) };
  },
};
