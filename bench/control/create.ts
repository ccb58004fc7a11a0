/** What networks cost that are created at once: time, requests, and the cluster manager's processor time. */
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { keyOf } from '../../kube/object-key.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeObject } from '../../kube/types.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
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

const ROUNDS = 1;

export const benchCreate = async (
  fleet: Fleet,
  { progress, eachRun }: Pick<BenchContext, 'progress' | 'eachRun'>,
): Promise<BenchResult[]> => {
  progress(`control/create-1000: ${ROUNDS} times each`);
  const { size, signal } = fleet;
  let requests = 0;
  let written: readonly RequestChain[] = [];
  const byManager = async (): Promise<number> => {
    await using manager = new ManagerProcess(fleet.plane.kubeconfig);
    await manager.whenLogged(CAUGHT_UP);
    const before = parseRequestCounts(await fleet.plane.metrics());
    const { created } = await createNetworks(fleet, tenants(size), mixed);
    const writes = writesOf(requestsBetween(before, parseRequestCounts(await fleet.plane.metrics())));
    // Those that make the networks are the benchmark's.
    requests = (totalOf(writes) - size) / size;
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
  return await eachRun(async (run) => {
    // The manager is first in the first run: the loop writes what it wrote.
    const { values, references } = await alternate(
      { rounds: ROUNDS, run, signal },
      cleanly(byManager),
      cleanly(byLoop),
    );
    const [value, reference] = [median(values), median(references)];
    return [
      benchResult({ name: 'control/create-1000', value, unit: 'ms', reference, rounds: ROUNDS }),
      benchResult({
        name: 'control/requests-per-network',
        value: requests,
        unit: 'requests',
        reference: 1,
        rounds: ROUNDS,
      }),
    ];
  });
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
/** Of the comparison; a run has one. */
const BATCHES = 3;

/** The processor time of a hundred networks more, in a manager that has worked before: up to a hundred, and up to all. */
export const benchCreateCpu = async (
  fleet: Fleet,
  { progress, eachRun }: Pick<BenchContext, 'progress' | 'eachRun'>,
): Promise<BenchResult[]> => {
  progress(`control/cpu-per-network: ${BATCH} networks more`);
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
  for (let round = 0; round < WARM_UP; round++) {
    await createNetworks(fleet, batch, mixed);
    await deleteNetworks(fleet, batch);
  }
  const few: number[] = [];
  for (let round = 0; round < BATCHES; round++) few.push(await measure());
  const reference = median(few);
  // They stay for the benchmarks that need layer-2 networks.
  await createNetworks(fleet, tenants(size - BATCH, BATCH + 1), () => 'Layer2');
  return await eachRun(async () => [
    benchResult({ name: 'control/cpu-per-network', value: await measure(), unit: 'ms', reference, rounds: 1 }),
  ]);
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
