/**
 * Layer-3 networks, the default network among them: every node has subnets of its own, routed between the zones over
 * a transit switch. A node that has none has no rows of the network. Rows: reference of names and columns in docs/ovn-rows.md.
 */
import type { NetworkFact } from '../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver, type Fragment } from '../../model/fragment.ts';
import type { View } from '../../model/view.ts';
import { localNode } from './local-node.ts';
import { remoteNode } from './remote-node.ts';
import { layer3Zone } from './zone.ts';

export const layer3Network: FeatureOver<'network'> = {
  name: 'layer3',
  over: 'network',
  render: ({ network }, view) => {
    const fact = networkHere(network, view);
    return fact === undefined ? EMPTY_FRAGMENT : { northbound: layer3Zone(fact) };
  },
};

export const layer3Node: FeatureOver<'networkNode'> = {
  name: 'layer3-node',
  over: 'networkNode',
  render: ({ network, node }, view) => {
    const fact = networkHere(network, view);
    return fact === undefined ? EMPTY_FRAGMENT : renderNode(fact, node, view);
  },
};

const renderNode = (network: NetworkFact, name: string, view: View): Fragment => {
  const subnets = view.nodeSubnets(name, network.name);
  const node = view.nodeFact(name);
  if (node === undefined || subnets.length === 0) return EMPTY_FRAGMENT;
  return {
    northbound: name === view.node ? localNode(network, node, subnets) : remoteNode(network, node, subnets),
  };
};

/** Where this node has no part of the network there can be no pods of it, and OVN need not know of it. */
const networkHere = (name: string, view: View): NetworkFact | undefined => {
  const network = view.network(name);
  if (network?.topology !== 'layer3' || network.role === 'secondary') return undefined;
  return view.nodeSubnets(view.node, name).length > 0 ? network : undefined;
};
