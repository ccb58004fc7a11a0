/** A cluster manager that starts where everything is as it should be: how long that takes, and what it holds in memory. */
import { parseNetworkIdPool } from '../../api/network-id-pool.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NETWORK_ID_POOLS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeObject, ResourceType } from '../../kube/types.ts';
import { idsIn } from '../../net/id-ranges.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { settledRssKib } from '../process-memory.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import type { Fleet } from './fleet.ts';
import { CAUGHT_UP, ManagerProcess } from './manager-process.ts';
import { parseRequestCounts, requestsBetween, writesOf } from './server-requests.ts';
import { watchTally } from './watch-until.ts';

const ROUNDS = 1;

/** What a cluster manager reads. */
const RESOURCES: readonly ResourceType[] = [
  ...[USER_DEFINED_NETWORKS, CLUSTER_USER_DEFINED_NETWORKS, NETWORK_ATTACHMENT_DEFINITIONS, IPAM_CLAIMS],
  ...[NAMESPACES, NODES, PODS],
];

/** @throws Error when it writes anything but its Lease */
export const benchRestart = async (
  fleet: Fleet,
  { progress, eachRun }: Pick<BenchContext, 'progress' | 'eachRun'>,
): Promise<BenchResult[]> => {
  progress(`control/restart-1000: ${ROUNDS} times each`);
  await fleet.addresses();
  const { plane, signal } = fleet;
  await finishPreparation(fleet);
  let memory: number[] = [];
  const restart = async (): Promise<number> => {
    const before = parseRequestCounts(await plane.metrics());
    await using manager = new ManagerProcess(plane.kubeconfig);
    const milliseconds = await manager.whenLogged(CAUGHT_UP);
    memory.push((await settledRssKib(manager.pid, signal)) / 1024);
    const writes = writesOf(requestsBetween(before, parseRequestCounts(await plane.metrics())));
    if (writes.size > 0) throw new Error(`a restart wrote something: ${JSON.stringify([...writes])}`);
    return milliseconds;
  };
  return await eachRun(async (run) => {
    memory = [];
    const rounds = { rounds: ROUNDS, run, warmUp: 1, signal };
    const { values, references } = await alternate(rounds, restart, () => listAll(fleet));
    const [value, reference] = [median(values), median(references)];
    return [
      benchResult({ name: 'control/restart-1000', value, unit: 'ms', reference, rounds: ROUNDS }),
      benchResult({
        name: 'control/rss-1000',
        value: median(memory),
        unit: 'MiB',
        reference: 1,
        rounds: memory.length,
      }),
    ];
  });
};

/**
 * Managers that prepared the cluster ended when its last network or pod was ready, with something left to write: statuses, and ids that
 * they had reserved for more networks, which a manager retires at its start and frees afterwards (ADR 63).
 */
const finishPreparation = async ({ plane, size, signal }: Fleet): Promise<void> => {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const isFinal = (pool: KubeObject): boolean => {
    const { given, retired } = parseNetworkIdPool(pool).status;
    return retired.length === 0 && [...idsIn(given)].length === size;
  };
  await using pools = await watchTally({ client: plane.client, resource: NETWORK_ID_POOLS, isDone: isFinal }, patience);
  await using manager = new ManagerProcess(plane.kubeconfig);
  await manager.whenLogged(CAUGHT_UP);
  await pools.reaches(1);
  await settledRssKib(manager.pid, signal);
};

const PATIENCE_MS = 60_000;

/** All kinds at once, each in one answer, by a process that has started long ago; the objects are parsed and not kept. */
const listAll = async ({ plane: { client } }: Fleet): Promise<number> => {
  const start = performance.now();
  await Promise.all(RESOURCES.map((resource) => client.list(resource)));
  return performance.now() - start;
};
