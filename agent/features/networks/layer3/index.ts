/**
 * Layer-3 networks, the default network among them: every node has subnets of its own, routed between the zones over
 * a transit switch. A node that has none has no rows of the network. Rows: reference of names and columns in docs/ovn-rows.md.
 */
import type { DesiredFragment } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { NetworkFact, NodeFact } from '../../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import type { View } from '../../../model/view.ts';
import { programmedNetwork } from '../../shared/local-network.ts';
import { localNode } from './local-node.ts';
import { remoteNode } from './remote-node.ts';
import { layer3Zone } from './zone.ts';

export const layer3Network: FeatureOver<'network'> = {
  name: 'layer3',
  over: 'network',
  render: ({ network: name }, view) => {
    const network = programmedNetwork(name, view)?.network;
    if (network?.topology !== 'layer3') return EMPTY_FRAGMENT;
    return { northbound: layer3Zone(network, view.gatewayMode(view.node), view) };
  },
};

export const layer3NodeRows = (network: NetworkFact, node: NodeFact, view: View): DesiredFragment<OvnNorthbound> => {
  const subnets = view.nodeSubnets(node.name, network.name);
  if (subnets.length === 0) return {};
  return node.name === view.node ? localNode(network, node, subnets, view) : remoteNode(network, node, subnets);
};
