/** What networks cost that are created at once: time, requests, and the cluster manager's processor time. */
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { keyOf } from '../../kube/object-key.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeObject } from '../../kube/types.ts';
import { alternate } from '../alternate.ts';
import { settledCpuMs } from '../process-memory.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { createNetworks, type Fleet, networkTally } from './fleet.ts';
import { CAUGHT_UP, ManagerProcess } from './manager-process.ts';
import {
  mixed,
  NETWORK,
  NODE_NAMES,
  namespaceOf,
  networkDeletion,
  networkRemoval,
  nodeCleaning,
  tenants,
  writtenNetwork,
  writtenNode,
} from './objects.ts';
import { type RequestChain, startPlayer } from './request-chain.ts';
import { parseRequestCounts, requestsBetween, totalOf, writesOf } from './server-requests.ts';
import { watchTally } from './watch-until.ts';

const RUNS = 1;

export const benchCreate = async (fleet: Fleet, progress: (message: string) => void): Promise<BenchResult[]> => {
  progress(`control/create-1000: ${RUNS} times each`);
  const { size, signal } = fleet;
  const requests: number[] = [];
  let written: readonly RequestChain[] = [];
  const byManager = async (): Promise<number> => {
    await using manager = new ManagerProcess(fleet.plane.kubeconfig);
    await manager.whenLogged(CAUGHT_UP);
    const before = parseRequestCounts(await fleet.plane.metrics());
    const { created } = await createNetworks(fleet, tenants(size), mixed);
    const writes = writesOf(requestsBetween(before, parseRequestCounts(await fleet.plane.metrics())));
    // Those that make the networks are the benchmark's.
    requests.push((totalOf(writes) - size) / size);
    progress(`  requests: ${[...writes].map(([what, count]) => `${what} ${count}`).join(', ')}`);
    written = await whatWasWritten(fleet);
    return created;
  };
  const byLoop = async (): Promise<number> => await playNetworks(fleet, written);
  const cleanly = (turn: () => Promise<number>) => async (): Promise<number> => {
    const milliseconds = await turn();
    await removeNetworks(fleet);
    return milliseconds;
  };
  // The manager first: the loop writes what it wrote.
  const { values, references } = await alternate({ runs: RUNS, signal }, cleanly(byManager), cleanly(byLoop));
  const [value, reference, each] = [median(values), median(references), median(requests)];
  return [
    benchResult({ name: 'control/create-1000', value, unit: 'ms', reference, runs: RUNS }),
    benchResult({ name: 'control/requests-per-network', value: each, unit: 'requests', reference: 1, runs: RUNS }),
  ];
};

/** The same watch shows when it is done. */
const playNetworks = async (
  { plane, size, signal }: Pick<Fleet, 'plane' | 'size' | 'signal'>,
  chains: readonly RequestChain[],
): Promise<number> => {
  await using created = await networkTally(plane, 'NetworkCreated', signal);
  await using ready = await networkTally(plane, 'NetworkAllocationSucceeded', signal);
  await using player = await startPlayer({ folder: plane.folder, kubeconfig: plane.administrators }, chains);
  const start = performance.now();
  player.write('go\n');
  await created.reaches(size);
  const milliseconds = performance.now() - start;
  await ready.reaches(size);
  await player.line();
  return milliseconds;
};

const whatWasWritten = async ({ plane: { client }, size }: Fleet): Promise<RequestChain[]> => {
  const [udns, nads, nodes] = await Promise.all(
    [USER_DEFINED_NETWORKS, NETWORK_ATTACHMENT_DEFINITIONS, NODES].map(
      async (resource) => new Map((await client.list(resource)).items.map((object) => [keyOf(object), object])),
    ),
  );
  const found = (objects: ReadonlyMap<string, KubeObject> | undefined, key: string): KubeObject => {
    const object = objects?.get(key);
    if (object === undefined) throw new Error(`${key} is not there`);
    return object;
  };
  return [
    ...tenants(size).map((tenant) => {
      const key = `${namespaceOf(tenant)}/${NETWORK}`;
      return writtenNetwork(tenant, mixed(tenant), found(udns, key), found(nads, key));
    }),
    ...NODE_NAMES.map((name) => writtenNode(found(nodes, name))),
  ];
};

/** When no cluster manager runs. */
const removeNetworks = async ({ play, size }: Fleet): Promise<void> => {
  await play([...tenants(size).map(networkRemoval), ...NODE_NAMES.map(nodeCleaning)]);
};

const BATCH = 100;
const BATCHES = 2;

/** The processor time of a hundred networks more, in a manager that has worked before: up to a hundred, and up to all. */
export const benchCreateCpu = async (fleet: Fleet, progress: (message: string) => void): Promise<BenchResult[]> => {
  progress(`control/cpu-per-network: ${BATCHES} × ${BATCH} networks`);
  const { plane, size, signal } = fleet;
  await using manager = new ManagerProcess(plane.kubeconfig);
  await manager.whenLogged(CAUGHT_UP);
  const batch = tenants(BATCH);
  const measure = async (): Promise<number> => {
    const before = await settledCpuMs(manager.pid, signal);
    await createNetworks(fleet, batch, mixed);
    const used = (await settledCpuMs(manager.pid, signal)) - before;
    await deleteNetworks(fleet, batch);
    return used / BATCH;
  };
  const measured = async (): Promise<number> => {
    const samples: number[] = [];
    for (let round = 0; round < BATCHES; round++) samples.push(await measure());
    return median(samples);
  };
  for (let round = 0; round < WARM_UP; round++) {
    await createNetworks(fleet, batch, mixed);
    await deleteNetworks(fleet, batch);
  }
  const reference = await measured();
  await createNetworks(fleet, tenants(size - BATCH, BATCH + 1), mixed);
  const value = await measured();
  await deleteNetworks(fleet, tenants(size - BATCH, BATCH + 1));
  return [benchResult({ name: 'control/cpu-per-network', value, unit: 'ms', reference, runs: BATCHES })];
};

const deleteNetworks = async (
  { plane: { client }, play, signal }: Fleet,
  networks: readonly number[],
): Promise<void> => {
  await using there = await watchTally({ client, resource: USER_DEFINED_NETWORKS }, signal);
  const left = there.count - networks.length;
  await play(networks.map((tenant) => [networkDeletion(tenant)]));
  await there.reaches(left);
};

/** Batches after which compiled code is what it stays. */
const WARM_UP = 2;
