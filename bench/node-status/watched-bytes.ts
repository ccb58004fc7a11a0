/** What a watch of a resource carries: a second one beside that of the program that is measured. */
import type { KubeClient, ResourceType } from '../../kube/types.ts';

export interface WatchedBytes extends AsyncDisposable {
  readonly bytes: number;
}

/** From now on. */
export const countWatched = async (client: KubeClient, resource: ResourceType): Promise<WatchedBytes> => {
  const stop = new AbortController();
  const { resourceVersion } = await client.list(resource, { limit: 1 });
  const stream = await client.watch(resource, { resourceVersion }, stop.signal);
  let bytes = 0;
  const read = async (): Promise<void> => {
    for await (const chunk of stream) bytes += chunk.length;
  };
  const reading = read().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    get bytes() {
      return bytes;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
    },
  };
};
