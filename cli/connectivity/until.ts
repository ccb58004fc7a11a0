/** Waits for objects by watch. */
import { KubeError } from '../../kube/errors.ts';
import { keyOf } from '../../kube/object-key.ts';
import type { KubeClient, KubeObject, ResourceType, WatchOptions } from '../../kube/types.ts';
import { watchEvents } from '../../kube/watch/watch-events.ts';

export interface Awaited {
  readonly resource: ResourceType;
  readonly namespace?: string | undefined;
  readonly labelSelector: string;
}

/**
 * Resolves with the objects when they are as `isDone` says. The server ends watches after some minutes: then it is listed again.
 * @throws KubeError; the signal's reason
 */
export const untilObjects = async (
  client: Pick<KubeClient, 'list' | 'watch'>,
  { resource, namespace, labelSelector }: Awaited,
  isDone: (objects: readonly KubeObject[]) => boolean,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> => {
  const selection = { namespace, labelSelector };
  for (;;) {
    const { items, resourceVersion } = await client.list(resource, selection, signal);
    const objects = new Map(items.map((object) => [keyOf(object), object]));
    if (isDone([...objects.values()])) return [...objects.values()];
    if (await followed(client, resource, { ...selection, resourceVersion }, objects, isDone, signal))
      return [...objects.values()];
  }
};

/** @returns whether it is done; else the watch has ended */
const followed = async (
  client: Pick<KubeClient, 'watch'>,
  resource: ResourceType,
  options: WatchOptions,
  objects: Map<string, KubeObject>,
  isDone: (objects: readonly KubeObject[]) => boolean,
  signal: AbortSignal,
): Promise<boolean> => {
  const stream = await client.watch(resource, options, signal);
  for await (const { type, object } of watchEvents(stream)) {
    if (type === 'ERROR') return failed(object);
    if (type === 'BOOKMARK') continue;
    const changed = object as unknown as KubeObject;
    if (type === 'DELETED') objects.delete(keyOf(changed));
    else objects.set(keyOf(changed), changed);
    if (isDone([...objects.values()])) return true;
  }
  return false;
};

/** 410: the server has forgotten where the watch was; a new list helps. */
const failed = (status: Readonly<Record<string, unknown>>): false => {
  if (status['code'] === 410) return false;
  throw new KubeError('ERR_KUBE_STATUS', `the watch ended: ${String(status['message'])}`, {
    status: Number(status['code']),
  });
};
