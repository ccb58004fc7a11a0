/** Names of OVN rows of the default network beside those of a user-defined one. */
import { COPP_NAME } from '../agent/features/zone/copp.ts';
import { ACL_LOGGING_METER } from '../agent/features/zone/index.ts';
import {
  clusterRouterName,
  layer2SwitchName,
  nodeSwitchName,
  podPortName,
  routerToSwitchPortName,
  routerToTransitPortName,
  switchToRouterPortName,
  transitSwitchName,
  transitToRouterPortName,
} from '../agent/model/names.ts';
import { DEFAULT_NETWORK_NAME } from '../api/names.ts';
import { markdownTable } from './markdown.ts';

const NODE = 'node-1';
const NETWORK = 'red_red';

type OfNetwork = (network: string) => string;

const NAMES: readonly (readonly [string, OfNetwork])[] = [
  ['cluster router', clusterRouterName],
  ['transit switch', transitSwitchName],
  ['switch of a node', (network) => nodeSwitchName(network, NODE)],
  ['router port to the node’s switch', (network) => routerToSwitchPortName(network, NODE)],
  ['switch port to the router', (network) => switchToRouterPortName(network, NODE)],
  ['router port to the transit switch', (network) => routerToTransitPortName(network, NODE)],
  ['transit switch port of a node', (network) => transitToRouterPortName(network, NODE)],
  ['port of a pod', (network) => podPortName(network === DEFAULT_NETWORK_NAME ? network : 'red/red', 'red', 'web')],
];

export const rowNames = (): string =>
  markdownTable(
    ['row', 'default network', 'layer-3 network', 'layer-2 network'],
    [
      ...NAMES.map(([what, name]) => [what, code(name(DEFAULT_NETWORK_NAME)), code(name(NETWORK)), '']),
      ['switch of all nodes', '', '', code(layer2SwitchName(NETWORK))],
      ['control-plane protection (Copp)', code(COPP_NAME), code(COPP_NAME), ''],
      ['meter of ACL logs', code(ACL_LOGGING_METER), '', ''],
    ],
  );

const code = (value: string): string => `\`${value}\``;
