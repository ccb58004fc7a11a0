/**
 * What the benchmarks of the control plane share: one API server, which has the tenants' namespaces, networks and pods that
 * were asked for so far. Each is made once.
 */
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { CONFIG_MAPS, PODS } from '../../kube/resources.ts';
import type { KubeObject } from '../../kube/types.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { CAUGHT_UP, ManagerProcess } from './manager-process.ts';
import {
  NODE_NAMES,
  namespaceChain,
  namespaceOf,
  networkRequest,
  nodeChain,
  podName,
  podRequest,
  type Topology,
  tenants,
} from './objects.ts';
import { playOnce, type RequestChain, startPlayer } from './request-chain.ts';
import { type Tally, watchTally } from './watch-until.ts';

export const NETWORKS = 1000;
export const PODS_OF_EACH = 10;

export interface Fleet extends AsyncDisposable {
  readonly plane: ControlPlane;
  /** How many tenants have a namespace: 1, 2, … */
  readonly size: number;
  readonly signal: AbortSignal;
  /** With the rights of an administrator. @returns milliseconds */
  play(chains: readonly RequestChain[]): Promise<number>;
  /** Every tenant has a layer-2 network: those that have none get one. */
  readonly layer2: () => Promise<void>;
  /** And ten pods, whose addresses have not been given out by anybody. */
  readonly pods: () => Promise<void>;
  /** And these have their addresses. */
  readonly addresses: () => Promise<void>;
}

export const startFleet = async (name: string, size: number, signal: AbortSignal): Promise<Fleet> => {
  await using resources = new AsyncDisposableStack();
  const plane = resources.use(await startControlPlane(name, signal));
  const asAdministrator = { folder: plane.folder, kubeconfig: plane.administrators };
  const play = (chains: readonly RequestChain[]): Promise<number> => playOnce(asAdministrator, chains);
  await play(NODE_NAMES.map(nodeChain));
  const rootCertificates = await rootCertificatesOf(plane, signal);
  await play(tenants(size).map((tenant) => namespaceChain(tenant, rootCertificates)));
  const base = { plane, size, signal, play };
  const layer2 = once(async () => {
    await using manager = new ManagerProcess(plane.kubeconfig);
    await manager.whenLogged(CAUGHT_UP);
    const { items } = await plane.client.list(USER_DEFINED_NETWORKS);
    const there = new Set(items.map(({ metadata }) => metadata.namespace));
    const missing = tenants(size).filter((tenant) => !there.has(namespaceOf(tenant)));
    await createNetworks(base, missing, () => 'Layer2');
  });
  const pods = once(async () => {
    await layer2();
    const each = Array.from({ length: PODS_OF_EACH }, (_, index) => podName(index));
    await play(tenants(size).map((tenant) => each.map((pod) => podRequest(tenant, pod))));
  });
  const addresses = once(async () => {
    await pods();
    await using tally = await podTally(plane, isAnnotated, signal);
    await using manager = new ManagerProcess(plane.kubeconfig);
    await manager.whenLogged(CAUGHT_UP);
    await tally.reaches(size * PODS_OF_EACH);
  });
  const owned = resources.move();
  return { ...base, layer2, pods, addresses, [Symbol.asyncDispose]: () => owned.disposeAsync() };
};

const once = (make: () => Promise<void>): (() => Promise<void>) => {
  let made: Promise<void> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/** What the controller manager puts into every namespace. */
const rootCertificatesOf = async ({ client }: ControlPlane, signal: AbortSignal): Promise<unknown> => {
  const name = 'kube-root-ca.crt';
  const [fieldSelector, namespace] = [`metadata.name=${name}`, 'default'];
  await using tally = await watchTally({ client, resource: CONFIG_MAPS, namespace, fieldSelector }, signal);
  await tally.reaches(1);
  return (await client.get(CONFIG_MAPS, { namespace, name }))['data'];
};

export interface Created {
  /** Milliseconds from the first request until the last has the condition `NetworkCreated`, and `NetworkAllocationSucceeded`. */
  readonly created: number;
  readonly ready: number;
}

/** Makes networks at once, and waits for a cluster manager that runs. */
export const createNetworks = async (
  { plane, signal }: Pick<Fleet, 'plane' | 'signal'>,
  networks: readonly number[],
  topologyOf: (tenant: number) => Topology,
): Promise<Created> => {
  await using created = await networkTally(plane, 'NetworkCreated', signal);
  await using ready = await networkTally(plane, 'NetworkAllocationSucceeded', signal);
  const [createdGoal, readyGoal] = [created, ready].map(({ count }) => count + networks.length);
  const chains = networks.map((tenant) => [networkRequest(tenant, topologyOf(tenant))]);
  await using player = await startPlayer({ folder: plane.folder, kubeconfig: plane.administrators }, chains);
  const start = performance.now();
  player.write('go\n');
  await created.reaches(createdGoal ?? 0);
  const createdMs = performance.now() - start;
  await ready.reaches(readyGoal ?? 0);
  return { created: createdMs, ready: performance.now() - start };
};

/** Of networks that have a condition. */
export const networkTally = (
  { client }: Pick<ControlPlane, 'client'>,
  condition: string,
  signal: AbortSignal,
): Promise<Tally> =>
  watchTally({ client, resource: USER_DEFINED_NETWORKS, isDone: (udn) => isTrue(udn, condition) }, signal);

const isTrue = (udn: KubeObject, type: string): boolean => {
  const { conditions = [] } = (udn['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
};

export const podTally = (
  { client }: Pick<ControlPlane, 'client'>,
  isDone: (pod: KubeObject) => boolean,
  signal: AbortSignal,
): Promise<Tally> => watchTally({ client, resource: PODS, isDone }, signal);

/** It has its addresses. */
export const isAnnotated = (pod: KubeObject): boolean => annotationOf(pod) !== undefined;

export const annotationOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[POD_ANNOTATIONS.networks];
