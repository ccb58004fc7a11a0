/** Counts objects that are as they should be, as a watch reports them. */
import { abortable } from '../../base/abort.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts';

export interface Watched {
  readonly client: KubeClient;
  readonly resource: ResourceType;
  readonly namespace?: string;
  readonly fieldSelector?: string;
  /** Default: all. */
  readonly isDone?: (object: KubeObject) => boolean;
}

export interface Tally extends AsyncDisposable {
  readonly count: number;
  /** Resolves when so many are. One waits at a time. @throws the signal's reason */
  reaches(count: number): Promise<void>;
}

/** Resolves when the watch has begun. */
export const watchTally = async (
  { client, resource, namespace, fieldSelector, isDone = () => true }: Watched,
  signal: AbortSignal,
): Promise<Tally> => {
  const stop = new AbortController();
  let count = 0;
  let waiting: { readonly goal: number; readonly resolve: () => void } | undefined;
  const objects = createReflector<boolean>({ client, resource, namespace, fieldSelector, project: isDone });
  objects.subscribe(({ before = false, after = false }) => {
    count += Number(after) - Number(before);
    if (count === waiting?.goal) waiting.resolve();
  });
  const running = objects.run(AbortSignal.any([signal, stop.signal]));
  await objects.whenSynced(signal);
  return {
    get count() {
      return count;
    },
    reaches: (goal) =>
      abortable(signal, (resolve) => {
        waiting = { goal, resolve };
        if (count === goal) resolve();
        return () => {
          waiting = undefined;
        };
      }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
};
