/** One watch, from the request to its end. */
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { errorOfStatus, isKubeObject } from '../client/responses.ts';
import { KubeError } from '../errors.ts';
import type { KubeClient, KubeObject, ResourceType, WatchEvent, WatchOptions } from '../types.ts';
import { createLineFramer } from '../watch/lines.ts';
import { parseWatchLine } from '../watch/watch-events.ts';

export interface WatchSessionOptions {
  readonly client: Pick<KubeClient, 'watch'>;
  readonly resource: ResourceType;
  readonly watch: WatchOptions;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly onStarted: () => void;
  /** Bytes came. */
  readonly onContact: () => void;
  /** In order. The object of a bookmark has no more than a resource version. */
  readonly onEvent: (type: 'added' | 'modified' | 'deleted' | 'bookmark', object: KubeObject) => void;
}

/** How a watch ended; nothing is thrown. `error` is not there when the server ended it in order or it fell silent. */
export type WatchEnd =
  | { readonly reason: 'closed' | 'idle' | 'aborted' }
  | { readonly reason: 'failed'; readonly error: unknown };

export const watchSession = async (options: WatchSessionOptions, signal: AbortSignal): Promise<WatchEnd> => {
  const controller = new AbortController();
  const stopListening = onAbort(signal, () => controller.abort(signal.reason));
  const watchdog = startWatchdog(options, () => controller.abort(IDLE));
  try {
    if (signal.aborted) return { reason: 'aborted' };
    await readWatch(options, watchdog.feed, controller.signal);
    return { reason: 'closed' };
  } catch (error) {
    if (signal.aborted) return { reason: 'aborted' };
    return controller.signal.aborted ? { reason: 'idle' } : { reason: 'failed', error };
  } finally {
    watchdog.stop();
    stopListening();
  }
};

const IDLE = new Error('no bytes of the watch for too long');

/** A timer that is set again only when it fires, not for every chunk. */
const startWatchdog = (
  { clock, idleMs, onContact }: WatchSessionOptions,
  onIdle: () => void,
): { feed: () => void; stop: () => void } => {
  let last = clock.monotonic();
  const check = (): void => {
    const left = last + idleMs - clock.monotonic();
    if (left <= 0) onIdle();
    else cancel = clock.schedule(left, check);
  };
  let cancel = clock.schedule(idleMs, check);
  return {
    feed: () => {
      last = clock.monotonic();
      onContact();
    },
    stop: () => cancel(),
  };
};

const readWatch = async (options: WatchSessionOptions, feed: () => void, signal: AbortSignal): Promise<void> => {
  const stream = await options.client.watch(options.resource, options.watch, signal);
  options.onStarted();
  feed();
  const framer = createLineFramer();
  for await (const chunk of stream) {
    feed();
    for (const line of framer.push(chunk)) deliver(options, parseWatchLine(line));
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
  if (framer.pending > 0) throw new KubeError('ERR_KUBE_NETWORK', 'a watch ended within a line');
};

const NAMES = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted', BOOKMARK: 'bookmark' } as const;

const deliver = ({ resource, onEvent }: WatchSessionOptions, event: WatchEvent | undefined): void => {
  if (event === undefined) return;
  if (event.type === 'ERROR') throw errorOfStatus(event.object, { what: `watch of ${resource.plural}` });
  if (event.type !== 'BOOKMARK' && !isKubeObject(event.object)) {
    throw new KubeError('ERR_KUBE_PROTOCOL', `an event of ${resource.plural} has no object with a metadata.name`);
  }
  onEvent(NAMES[event.type], event.object as KubeObject);
};
