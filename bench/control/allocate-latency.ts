/** How long one pod waits for its address of a layer-2 network. */
import { createReflector } from '../../kube/reflector/reflector.ts';
import { PODS } from '../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median, percentile } from '../statistics.ts';
import { annotationOf, type Fleet } from './fleet.ts';
import { CAUGHT_UP, ManagerProcess } from './manager-process.ts';
import { namespaceOf, podObject } from './objects.ts';

const SAMPLES = 200;
const WARM_UP = 30;

/** One pod after the other, in a cluster with 1,000 networks and 10,000 pods. */
export const benchAllocateLatency = async (
  fleet: Fleet,
  { progress, eachRun }: Pick<BenchContext, 'progress' | 'eachRun'>,
): Promise<BenchResult[]> => {
  progress(`control/allocate-p99: ${SAMPLES} pods`);
  await fleet.addresses();
  const { plane, signal } = fleet;
  await using manager = new ManagerProcess(plane.kubeconfig);
  await manager.whenLogged(CAUGHT_UP);
  await using allocated = await followPods(plane.client, namespaceOf(1), signal);
  await using patched = await followPods(plane.client, PLAIN, signal);
  await plane.client.create(PODS, podObject(PLAIN, PATCHED));
  return await eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: SAMPLES, run, warmUp: WARM_UP, signal },
      (round) => allocate(plane.client, allocated, `single-${round}`),
      (round) => patch(plane.client, patched, round),
    );
    const [value, reference] = [percentile(values, 99), median(references)];
    return [benchResult({ name: 'control/allocate-p99', value, unit: 'ms', reference, rounds: SAMPLES })];
  });
};

/** Without a network of ours: the cluster manager has nothing to do with its pods. */
const PLAIN = 'default';
const PATCHED = 'patched';

/** From the pod's first event to that of its addresses. */
const allocate = async (client: KubeClient, pods: PodEvents, name: string): Promise<number> => {
  const namespace = namespaceOf(1);
  const [seen, annotated] = [pods.when(name, () => true), pods.when(name, (pod) => annotationOf(pod) !== undefined)];
  await client.create(PODS, podObject(namespace, name));
  const milliseconds = (await annotated) - (await seen);
  await client.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0 });
  return milliseconds;
};

/** From the request to its event: an annotation as long as that of a pod's addresses. */
const patch = async (client: KubeClient, pods: PodEvents, round: number): Promise<number> => {
  const text = `${round} ${'x'.repeat(ANNOTATION_LENGTH)}`;
  const done = pods.when(PATCHED, ({ metadata }) => metadata.annotations?.[ANNOTATION] === text);
  const start = performance.now();
  await client.patch(
    PODS,
    { namespace: PLAIN, name: PATCHED },
    { type: 'merge', body: { metadata: { annotations: { [ANNOTATION]: text } } } },
  );
  return (await done) - start;
};

const ANNOTATION = 'bench.example/written';
const ANNOTATION_LENGTH = 300;

interface PodEvents extends AsyncDisposable {
  /** When a pod was first seen as it should be. */
  when(name: string, isDone: (pod: KubeObject) => boolean): Promise<number>;
}

const followPods = async (client: KubeClient, namespace: string, signal: AbortSignal): Promise<PodEvents> => {
  const stop = new AbortController();
  const waiting = new Set<(pod: KubeObject) => void>();
  const pods = createReflector<KubeObject>({ client, resource: PODS, namespace, project: (pod) => pod });
  pods.subscribe(({ after }) => {
    if (after !== undefined) for (const notify of waiting) notify(after);
  });
  const running = pods.run(AbortSignal.any([signal, stop.signal]));
  await pods.whenSynced(signal);
  return {
    when: (name, isDone) =>
      new Promise((resolve) => {
        const notify = (pod: KubeObject): void => {
          if (pod.metadata.name !== name || !isDone(pod)) return;
          waiting.delete(notify);
          resolve(performance.now());
        };
        waiting.add(notify);
      }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
};
