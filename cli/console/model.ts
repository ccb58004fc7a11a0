/** What the page shows of a cluster: what the commands of udnctl compute, in one object. Pure. */
import type { KubeObject } from '../../kube/types.ts';
import { type NetworkItem, networkItems } from '../cluster/network-rows.ts';
import { type PodItem, podItems } from '../cluster/pod-rows.ts';
import { type ServiceItem, serviceItems } from '../cluster/service-rows.ts';
import { isHealthy, type NodeRow, rowMessage, statusRows } from '../cluster/status-rows.ts';
import { usageOf } from '../cluster/usage.ts';
import { countText } from '../commands/usage.ts';
import type { Scene } from '../why/allocations.ts';
import { unreadText } from '../why/finding.ts';
import { reachMatrix } from './matrix.ts';
import { problemsOf } from './problems.ts';
import type { ConsoleModel, NetworkDetail, NetworkView, NodeView, PodView } from './types.ts';

export interface ConsoleView {
  readonly model: ConsoleModel;
  /** @param network its name; undefined: there is no such one */
  readonly detail: (network: string) => NetworkDetail | undefined;
}

/** @param nodes and @param reports as the server has them: one that cannot be read is shown as such */
export const consoleView = (
  scene: Scene,
  nodes: readonly KubeObject[],
  reports: readonly KubeObject[],
): ConsoleView => {
  const networks = networkItems(scene);
  const pods = podItems(scene);
  const services = serviceItems(scene);
  const rows = statusRows(nodes, reports, scene.now);
  return {
    model: {
      namespace: scene.namespace,
      networks: networkViews(networks, scene),
      nodes: rows.map(nodeView),
      problems: problemsOf({ scene, networks, pods, services, nodes: rows }),
      notes: [...scene.unread.map((one) => `not shown: ${unreadText(one)}`), ...scene.unusable],
    },
    detail: (name) => detailOf(name, { scene, networks, pods, services }),
  };
};

const networkViews = (networks: readonly NetworkItem[], scene: Scene): readonly NetworkView[] => {
  const usages = new Map(usageOf(scene).map((usage) => [usage.network, usage]));
  // Without these the numbers would be wrong, and not only incomplete.
  const isCounted = !scene.unread.some(({ resource }) => COUNTED.includes(resource)) && scene.namespace === undefined;
  return networks.map(({ id: _, vrf: __, created: ___, ...network }) => ({
    ...network,
    usage: (isCounted ? (usages.get(network.name)?.subnets ?? []) : []).map(
      ({ subnet, used, free }) => `${subnet}: ${used} used, ${countText(free)} free`,
    ),
  }));
};

const COUNTED: readonly string[] = ['network-attachment-definitions', 'nodes', 'pods', 'ipamclaims'];

/** What a silent agent has reported is no news. */
const nodeView = (row: NodeRow): NodeView => {
  const isNews = row.agent === 'reporting';
  return {
    node: row.node,
    agent: row.agent,
    networks: isNews ? row.networks : undefined,
    failing: isNews ? row.failed?.map(({ component }) => component) : undefined,
    isHealthy: isHealthy(row),
    message: rowMessage(row) ?? '',
  };
};

interface Items {
  readonly scene: Scene;
  readonly networks: readonly NetworkItem[];
  readonly pods: readonly PodItem[];
  readonly services: readonly ServiceItem[];
}

const detailOf = (name: string, { scene, ...items }: Items): NetworkDetail | undefined => {
  const network = items.networks.find((one) => one.name === name);
  if (network === undefined) return undefined;
  const { namespace } = scene;
  const own = items.pods
    .filter(({ attachments }) => attachments.some((one) => one.network === name))
    .sort((a, b) => Number(a.state !== 'waiting') - Number(b.state !== 'waiting'));
  return {
    network: name,
    matrix: reachMatrix(network, { ...items, namespace, unread: scene.unread.map(({ resource }) => resource) }),
    pods: own.slice(0, MAX_PODS).map((pod) => podView(pod, name)),
    morePods: Math.max(own.length - MAX_PODS, 0),
  };
};

/** More than that nobody reads; those that wait come first. */
const MAX_PODS = 100;

const podView = (
  { namespace, name, node = '', attachments, state, message = '' }: PodItem,
  network: string,
): PodView => ({
  pod: `${namespace}/${name}`,
  node,
  addresses: attachments.flatMap((one) => (one.network === network ? one.addresses : [])),
  state,
  message,
});
