/** A node with tenants and pods that are ready to be added. */
import type { PodAttachments } from '../../agent/model/attachments.ts';
import { parseNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { type BenchNode, startBenchNode } from '../node/bench-node.ts';
import type { RenderedPod } from '../node/node-view.ts';
import {
  type Made,
  otherNode,
  otherNodeName,
  PLAIN_NAMESPACE,
  plainNamespace,
  pod,
  tenant,
  tenantName,
  tenantOfTwoNodes,
} from '../node/workload.ts';
import { floorPod } from './floor-pods.ts';
import { CniRig } from './rig.ts';

export interface CniNode extends AsyncDisposable {
  readonly node: BenchNode;
  readonly rig: CniRig;
  /** How many networks the node has a part of, beside the default one. */
  readonly tenants: number;
  /** In a namespace without a network of its own. */
  readonly plainPods: readonly PodAttachments[];
  /** In the namespace of the first tenant. */
  readonly tenantPods: readonly PodAttachments[];
  /** As many that only the floor adds. */
  readonly plainFloorPods: readonly RenderedPod[];
  readonly tenantFloorPods: readonly RenderedPod[];
}

export interface CniNodeSpec {
  readonly name: string;
  readonly tenants: number;
  /** More networks of the cluster, of which two other nodes have the only parts. */
  readonly tenantsElsewhere: number;
  readonly plainPods: number;
  readonly tenantPods: number;
}

/** Resolves when OVN has nothing left to do. */
export const startCniNode = async (spec: CniNodeSpec, signal: AbortSignal): Promise<CniNode> => {
  const { name, tenants } = spec;
  await using resources = new AsyncDisposableStack();
  const prepare = (client: KubeClient): Promise<void> => makeTenantsElsewhere(client, spec, signal);
  const node = resources.use(await startBenchNode(name, signal, prepare));
  await makeAll(node.client, [[plainNamespace()], ...upTo(tenants).map(tenant)]);
  const plain = upTo(spec.plainPods).map((index) => [PLAIN_NAMESPACE, `pod-${index}`] as const);
  const owned = upTo(spec.tenantPods).map((index) => [tenantName(1), `pod-${index}`] as const);
  await makeAll(
    node.client,
    [...plain, ...owned].map(([namespace, pod_]) => [pod(namespace, pod_)]),
  );
  const rig = resources.use(await CniRig.open(node));
  // A node has no rows of networks that it has no part of.
  await rig.view.networks(tenants);
  const prepared = (names: readonly (readonly [string, string])[]): Promise<PodAttachments[]> =>
    Promise.all(names.map((key) => rig.view.prepared(key.join('/'))));
  const [plainPods, tenantPods] = [await prepared(plain), await prepared(owned)];
  await node.run(['ovn-nbctl', '--wait=hv', '--timeout=100', 'sync'], { timeoutMs: 110_000 });
  const floorPods = (pods: readonly PodAttachments[]): RenderedPod[] =>
    pods.map((one) => rig.view.rendered(floorPod(one.pod)));
  const owner = resources.move();
  return {
    node,
    rig,
    tenants,
    plainPods,
    tenantPods,
    plainFloorPods: floorPods(plainPods),
    tenantFloorPods: floorPods(tenantPods),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
};

/** Resolves when the other nodes have their parts of all of them. */
const makeTenantsElsewhere = async (
  client: KubeClient,
  { tenants, tenantsElsewhere }: CniNodeSpec,
  signal: AbortSignal,
): Promise<void> => {
  if (tenantsElsewhere === 0) return;
  await makeAll(client, [[otherNode(1), otherNode(2)]]);
  const indexes = upTo(tenantsElsewhere).map((index) => tenants + index);
  await makeAll(client, indexes.map(tenantOfTwoNodes));
  await Promise.all([1, 2].map((node) => untilNodeHas(client, otherNodeName(node), tenantsElsewhere + 1, signal)));
};

/** Resolves when a node has subnets of so many networks, the default one included. */
const untilNodeHas = async (client: KubeClient, node: string, networks: number, signal: AbortSignal): Promise<void> => {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(PREPARE_MS)]);
  const nodes = createReflector({
    client,
    resource: NODES,
    fieldSelector: `metadata.name=${node}`,
    project: ({ metadata: { annotations } }) => ({
      networks: parseNodeSubnets(annotations?.[NODE_ANNOTATIONS.subnets] ?? '{}', node).size,
    }),
  });
  nodes.subscribe(({ after }) => {
    if ((after?.networks ?? 0) >= networks) stop.abort();
  });
  await nodes.run(either);
  if (!stop.signal.aborted) throw either.reason;
};

const PREPARE_MS = 120_000;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Objects of one list one after the other, lists side by side. */
export const makeAll = async (client: KubeClient, lists: readonly (readonly Made[])[]): Promise<void> => {
  const waiting = lists.values();
  const work = async (): Promise<void> => {
    for (const list of waiting) for (const { resource, object } of list) await client.create(resource, object);
  };
  await Promise.all(upTo(8).map(work));
};
