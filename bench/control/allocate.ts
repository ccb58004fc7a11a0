/** What it takes until pods have their addresses of layer-2 networks. */
import { PODS } from '../../kube/resources.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { annotationOf, type Fleet, isAnnotated, PODS_OF_EACH, podTally } from './fleet.ts';
import { ManagerProcess, RECOVERED } from './manager-process.ts';
import { podAnnotation } from './objects.ts';
import { type RequestChain, startPlayer } from './request-chain.ts';

/**
 * Ten pods of each of 1,000 networks, which are there before: by a manager that starts, from when it has read them all; then by a
 * loop that knows what to write. Once each in a run: it is the sum of 10,000.
 */
export const benchAllocate = async (
  fleet: Fleet,
  { progress, eachRun }: Pick<BenchContext, 'progress' | 'eachRun'>,
): Promise<BenchResult[]> => {
  progress('control/allocate-10k: all pods once each way in a run');
  await fleet.pods();
  return await eachRun(async () => {
    await fleet.play(await withoutAddresses(fleet));
    const value = await byManager(fleet);
    const reference = await byLoop(fleet, await annotations(fleet));
    return [benchResult({ name: 'control/allocate-10k', value, unit: 'ms', reference, rounds: 1 })];
  });
};

const byManager = async ({ plane, size, signal }: Fleet): Promise<number> => {
  await using tally = await podTally(plane, isAnnotated, signal);
  await using manager = new ManagerProcess(plane.kubeconfig);
  await manager.whenLogged(RECOVERED);
  const start = performance.now();
  await tally.reaches(size * PODS_OF_EACH);
  return performance.now() - start;
};

/** Nobody else writes meanwhile; the same watch shows when it is done. */
const byLoop = async ({ plane, size, signal }: Fleet, chains: readonly RequestChain[]): Promise<number> => {
  await using tally = await podTally(plane, (pod) => annotationOf(pod)?.endsWith(' ') === true, signal);
  await using player = await startPlayer(plane, chains);
  const start = performance.now();
  player.write('go\n');
  await tally.reaches(size * PODS_OF_EACH);
  const milliseconds = performance.now() - start;
  await player.line();
  return milliseconds;
};

/** What takes their addresses from pods that have them from an earlier run. */
const withoutAddresses = async ({ plane: { client } }: Fleet): Promise<RequestChain[]> =>
  (await client.list(PODS)).items
    .filter(isAnnotated)
    .map(({ metadata: { namespace = '', name } }) => [podAnnotation(namespace, name, null)]);

/** Each pod's, with a space behind the JSON: as long, just as true, and something to write. */
const annotations = async ({ plane: { client } }: Fleet): Promise<RequestChain[]> =>
  (await client.list(PODS)).items.map((pod) => [
    podAnnotation(pod.metadata.namespace ?? '', pod.metadata.name, `${annotationOf(pod)} `),
  ]);
