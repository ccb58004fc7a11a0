/**
 * What a cluster looks like, to be drawn: of each network its Services, its part of each node with the gateway, and the pods.
 * Broken is what has a message. Pure; large clusters are bounded: what is broken is shown first, the rest is counted.
 */
import { hasId } from '../../net/id-ranges.ts';
import { agentRow } from '../cluster/agent-row.ts';
import { type NetworkItem, networkItems } from '../cluster/network-rows.ts';
import type { NodeState } from '../cluster/node-state.ts';
import { type PodItem, podItems } from '../cluster/pod-rows.ts';
import type { ServiceItem } from '../cluster/service-rows.ts';
import { rowMessage } from '../cluster/status-rows.ts';
import type { Scene } from '../why/allocations.ts';

export interface Graph {
  readonly networks: readonly NetworkGraph[];
  /** What is not drawn, a line each. */
  readonly notes: readonly string[];
}

export interface NetworkGraph {
  readonly network: Box;
  readonly services: readonly Box[];
  readonly nodes: readonly NodeGraph[];
}

export interface NodeGraph {
  readonly node: Box;
  /** Undefined: the network has no way out. */
  readonly gateway: Box | undefined;
  readonly pods: readonly Box[];
}

export interface Box {
  /** `more`: stands for others that are not drawn. */
  readonly kind: 'network' | 'service' | 'node' | 'gateway' | 'pod' | 'more';
  /** Text that anybody may have written. */
  readonly lines: readonly string[];
  /** Why it does not work; undefined: it does. */
  readonly broken: string | undefined;
}

interface GraphOptions {
  /** By its name or object: `red_net`, `udn red/net`, `red/net`; undefined: all. */
  readonly network?: string | undefined;
  readonly limits?: GraphLimits | undefined;
}

interface GraphLimits {
  readonly networks: number;
  readonly services: number;
  readonly nodes: number;
  /** Of one network on one node. */
  readonly pods: number;
}

const LIMITS: GraphLimits = { networks: 20, services: 8, nodes: 12, pods: 6 };

/** @param services of the same cluster, as `serviceItems` has them */
export const clusterGraph = (
  scene: Scene,
  services: readonly ServiceItem[],
  { network, limits = LIMITS }: GraphOptions = {},
): Graph => {
  const asked = networkItems(scene).filter((item) => network === undefined || isNamed(item, network));
  const pods = podItems(scene);
  const all = asked.map((item) => ({ item, graph: networkGraph(item, { scene, services, pods, limits }) }));
  const { shown, rest } = firstOf(all, limits.networks, ({ graph }) => (isBroken(graph) ? 0 : 1));
  const broken = rest.filter(({ graph }) => isBroken(graph)).length;
  const notes = rest.length === 0 ? [] : [`${rest.length} more networks${brokenText(broken)}`];
  return { networks: shown.map(({ graph }) => graph), notes };
};

const isNamed = ({ name, object }: Pick<NetworkItem, 'name' | 'object'>, text: string): boolean =>
  [name, object, object.split(' ')[1]].includes(text);

/** Something of it does not work. */
export const isBroken = ({ network, services, nodes }: NetworkGraph): boolean =>
  [network, ...services].some(({ broken }) => broken !== undefined) || nodes.some(isNodeBroken);

interface Context {
  readonly scene: Scene;
  readonly services: readonly ServiceItem[];
  readonly pods: readonly PodItem[];
  readonly limits: GraphLimits;
}

const networkGraph = (item: NetworkItem, { scene, services, pods, limits }: Context): NetworkGraph => {
  const own = pods.filter(
    (pod) => pod.state !== 'completed' && pod.attachments.some((one) => one.network === item.name),
  );
  const byNode = Map.groupBy(own, ({ node = '' }) => node);
  const names = new Set([...scene.nodes.values()].filter(({ isExcluded }) => !isExcluded).map(({ name }) => name));
  for (const name of byNode.keys()) names.add(name);
  const parts = [...names].sort().map((name) => nodeGraph(name, item, byNode.get(name) ?? [], { scene, limits }));
  const { shown, rest } = firstOf(parts, limits.nodes, (part) =>
    isNodeBroken(part) ? 0 : part.pods.length > 0 ? 1 : 2,
  );
  const boxes = services.filter(({ network }) => network === item.name).map(serviceBox);
  return {
    network: {
      kind: 'network',
      lines: [item.object, `${item.topology} ${item.role}`, ...item.subnets],
      broken: item.state === 'ready' || item.state === 'unknown' ? undefined : (item.message ?? item.state),
    },
    services: bounded(boxes, limits.services, 'Services'),
    nodes: rest.length === 0 ? shown : [...shown, { ...moreNodes(rest), gateway: undefined, pods: [] }],
  };
};

const moreNodes = (rest: readonly NodeGraph[]): Pick<NodeGraph, 'node'> => ({
  node: more(rest.length, 'nodes', rest.filter(isNodeBroken).length),
});

/** It, or something on it. */
const isNodeBroken = ({ node, pods }: NodeGraph): boolean => [node, ...pods].some(({ broken }) => broken !== undefined);

const nodeGraph = (
  name: string,
  item: NetworkItem,
  pods: readonly PodItem[],
  { scene, limits }: Pick<Context, 'scene' | 'limits'>,
): NodeGraph => {
  const state = scene.nodes.get(name);
  const subnets = item.topology === 'layer3' ? (state?.held.subnets.get(item.name) ?? []) : [];
  const broken = name === '' ? undefined : nodeProblem(name, state, item, scene);
  const gateways = [...new Set(pods.flatMap(({ attachments }) => gatewaysOf(attachments, item.name)))];
  const hasGateway = item.role === 'primary' && name !== '' && pods.length > 0;
  return {
    node: { kind: 'node', lines: [name === '' ? 'no node yet' : name, ...subnets], broken },
    gateway: hasGateway ? { kind: 'gateway', lines: ['gateway', ...gateways], broken } : undefined,
    pods: bounded(
      pods.map((pod) => podBox(pod, item.name)),
      limits.pods,
      'pods',
    ),
  };
};

const gatewaysOf = (attachments: PodItem['attachments'], network: string): readonly string[] =>
  attachments.flatMap((one) => (one.network === network ? one.gateways : []));

const nodeProblem = (
  name: string,
  state: NodeState | undefined,
  item: NetworkItem,
  scene: Scene,
): string | undefined => {
  // Whoever may not list Nodes knows nothing of them.
  if (state === undefined)
    return scene.unread.some(({ resource }) => resource === 'nodes') ? undefined : 'the Node does not exist';
  if (state.isReady === false) return 'the Node is not ready';
  if (!state.hasAgent) return 'no udn-agent has run here';
  const row = agentRow(state, scene);
  const problem = row && rowMessage(row);
  if (problem !== undefined) return problem;
  const report = scene.reports.find(({ node }) => node === name);
  const failure = report?.failures.get(item.name);
  if (failure !== undefined) return failure;
  if (report === undefined || item.id === undefined) return undefined;
  if (hasId(report.failed, item.id)) return 'the network cannot be programmed here';
  return hasId(report.pending, item.id) ? 'the network is not programmed here yet' : undefined;
};

const podBox = ({ namespace, name, attachments, state, message }: PodItem, network: string): Box => ({
  kind: 'pod',
  lines: [
    `${namespace}/${name}`,
    ...attachments.flatMap((one) =>
      one.network === network ? one.addresses.map((address) => address.replace(/\/\d+$/, '')) : [],
    ),
  ],
  broken: state === 'waiting' ? (message ?? 'waits for its addresses') : undefined,
});

const serviceBox = ({ namespace, name, clusterIps, state, notes, isHeadless }: ServiceItem): Box => {
  const isEmpty =
    clusterIps.length > 0 && clusterIps.every(({ ready = 0, terminating = 0 }) => ready + terminating === 0);
  const isWaiting = state === 'waiting' || state === 'unreadable';
  return {
    kind: 'service',
    lines: [`${namespace}/${name}`, ...(isHeadless ? ['headless'] : clusterIps.map(({ ip }) => ip))],
    broken: isWaiting ? (notes[0] ?? state) : state === 'served' && isEmpty ? 'no ready endpoint' : undefined,
  };
};

/** What is broken first, then in order; what is beyond the limit is one box. */
const bounded = (boxes: readonly Box[], limit: number, what: string): readonly Box[] => {
  const { shown, rest } = firstOf(boxes, limit, ({ broken }) => (broken === undefined ? 1 : 0));
  if (rest.length === 0) return shown;
  return [...shown, more(rest.length, what, rest.filter(({ broken }) => broken !== undefined).length)];
};

const more = (count: number, what: string, broken: number): Box => ({
  kind: 'more',
  lines: [`${count} more ${what}`],
  broken: broken === 0 ? undefined : `${broken} not working`,
});

const brokenText = (count: number): string => (count === 0 ? '' : `, ${count} not working`);

/** So many of them, those of the lowest rank before all others, in their order. */
const firstOf = <Item>(
  items: readonly Item[],
  limit: number,
  rank: (item: Item) => number,
): { readonly shown: readonly Item[]; readonly rest: readonly Item[] } => {
  const ordered = items.toSorted((a, b) => rank(a) - rank(b));
  const shown = new Set(ordered.slice(0, limit));
  return { shown: items.filter((item) => shown.has(item)), rest: ordered.slice(limit) };
};
