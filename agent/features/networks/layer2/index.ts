/**
 * Layer-2 networks: one switch that spans all zones, with a remote port for every pod of another node. A primary one has a
 * router that spans them, too: the gateway of all pods, with a port for each node's gateway router. Their keys are the same
 * in every zone, so that a packet in the tunnel finds them.
 */
import { networkDatapathKey } from '../../../../api/network-keys.ts';
import type { DesiredFragment } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import { isRouted, type NetworkFact, type NodeFact } from '../../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import type { View } from '../../../model/view.ts';
import { programmedNetwork } from '../../shared/local-network.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { remoteGateway } from './remote-gateway.ts';
import { sharedSwitch } from './shared-switch.ts';
import { transitRouter } from './transit-router.ts';

export const layer2Network: FeatureOver<'network'> = {
  name: 'layer2',
  over: 'network',
  render: ({ network: name }, view) => {
    const network = programmedNetwork(name, view)?.network;
    if (network?.topology !== 'layer2') return EMPTY_FRAGMENT;
    const [switchKey = networkDatapathKey(network.id), routerKey] = network.tunnelKeys;
    const onlySwitch = sharedSwitch(network, switchKey, view);
    const node = view.nodeFact(view.node);
    if (routerKey === undefined || node === undefined || !isRouted(network)) return { northbound: onlySwitch };
    const router = transitRouter({ network, key: routerKey, node, mode: view.gatewayMode(view.node), view });
    return { northbound: merge(onlySwitch, router) };
  },
};

/** This node's own gateway comes with the bridge's, see `gateway-routers`. */
export const layer2NodeRows = (network: NetworkFact, node: NodeFact, view: View): DesiredFragment<OvnNorthbound> =>
  node.name === view.node || !isRouted(network) || network.tunnelKeys.length < 2 ? {} : remoteGateway(network, node);
