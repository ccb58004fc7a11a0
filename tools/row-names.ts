/** Names of OVN rows of the default network beside those of a user-defined one. */
import {
  ACL_LOGGING_METER,
  COPP_NAME,
  clusterRouterName,
  externalBridgePortName,
  externalSwitchName,
  externalToRouterPortName,
  gatewayRouterName,
  joinSwitchName,
  joinToRouterPortName,
  layer2SwitchName,
  loadBalancerGroupName,
  loadBalancerName,
  managementPortName,
  nodeSwitchName,
  podPortName,
  routerToExternalPortName,
  routerToJoinPortName,
  routerToSwitchPortName,
  routerToTransitPortName,
  routerToTransitRouterPortName,
  switchToRouterPortName,
  switchToTransitRouterPortName,
  transitRouterName,
  transitRouterToRouterPortName,
  transitRouterToSwitchPortName,
  transitSwitchName,
  transitToRouterPortName,
} from '../agent/model/names.ts';
import { DEFAULT_NETWORK_NAME } from '../api/names.ts';
import { code } from './markdown.ts';

const NODE = 'node-1';
const NETWORK = 'red_red';

type OfNetwork = (network: string) => string;
/** What it is, on the default network and layer-3 networks, on layer-2 networks. */
type NameRow = readonly [what: string, onLayer3: OfNetwork | undefined, onLayer2: OfNetwork | undefined];

const same = (what: string, name: OfNetwork): NameRow => [what, name, name];
const gateway: OfNetwork = (network) => gatewayRouterName(network, NODE);

const NAMES: readonly NameRow[] = [
  ['cluster router', clusterRouterName, undefined],
  ['transit router', undefined, transitRouterName],
  ['transit switch', transitSwitchName, undefined],
  ['switch of a node', (network) => nodeSwitchName(network, NODE), undefined],
  ['switch of all nodes', undefined, layer2SwitchName],
  [
    'router port to the pods’ switch',
    (network) => routerToSwitchPortName(network, NODE),
    transitRouterToSwitchPortName,
  ],
  ['switch port to the router', (network) => switchToRouterPortName(network, NODE), switchToTransitRouterPortName],
  ['router port to the transit switch', (network) => routerToTransitPortName(network, NODE), undefined],
  ['transit switch port of a node', (network) => transitToRouterPortName(network, NODE), undefined],
  same('port of a pod', (network) => podPortName(network === DEFAULT_NETWORK_NAME ? network : 'red/red', 'red', 'web')),
  same('port of the node itself', (network) => managementPortName(network, NODE)),
  same('gateway router', gateway),
  ['join switch', joinSwitchName, undefined],
  ['cluster router port to the join switch', (network) => routerToJoinPortName(clusterRouterName(network)), undefined],
  ['join switch port to the cluster router', (network) => joinToRouterPortName(clusterRouterName(network)), undefined],
  [
    'gateway router port to the inside',
    (network) => routerToJoinPortName(gateway(network)),
    (network) => routerToTransitRouterPortName(gateway(network)),
  ],
  [
    'its other end',
    (network) => joinToRouterPortName(gateway(network)),
    (network) => transitRouterToRouterPortName(gateway(network)),
  ],
  same('external switch', (network) => externalSwitchName(network, NODE)),
  same('gateway router port to the external switch', (network) => routerToExternalPortName(gateway(network))),
  same('external switch port to the gateway router', (network) => externalToRouterPortName(gateway(network))),
  same('external switch port to the bridge', (network) => externalBridgePortName('br-ex', network, NODE)),
  same('group of load balancers', loadBalancerGroupName),
  same('load balancer of a Service', (network) =>
    loadBalancerName(network, { kind: 'Service', key: 'ns/svc' }, 'TCP', 'cluster'),
  ),
  same('load balancer of ports of a pod', (network) =>
    loadBalancerName(network, { kind: 'Pod', key: 'ns/pod' }, 'TCP', `node_switch_${NODE}`),
  ),
];

export const ROW_NAMES = {
  columns: ['row', 'default network', 'layer-3 network', 'layer-2 network'],
  rows: () => [
    ...NAMES.map(([what, onLayer3, onLayer2]) => [
      what,
      nameOn(onLayer3, DEFAULT_NETWORK_NAME),
      nameOn(onLayer3, NETWORK),
      nameOn(onLayer2, NETWORK),
    ]),
    ['control-plane protection (Copp)', code(COPP_NAME), code(COPP_NAME), code(COPP_NAME)],
    ['meter of ACL logs', code(ACL_LOGGING_METER), code(ACL_LOGGING_METER), code(ACL_LOGGING_METER)],
  ],
};

const nameOn = (name: OfNetwork | undefined, network: string): string =>
  name === undefined ? '' : code(name(network));
