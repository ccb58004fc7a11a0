/** GET with `watch=true`: changes as they happen, one JSON object per line. */
import type { ServerContext } from '../context.ts';
import { apiVersionOf } from '../registry.ts';
import { type RenderOptions, renderEventObject } from '../requests/render.ts';
import type { HttpRequest, StreamSink, Target } from '../requests/types.ts';
import { expired, type StatusError, statusOf } from '../status-error.ts';
import type { Stored, StoreEvent } from '../store/store.ts';
import { createLineCache, type LineCache } from './line-cache.ts';
import { parseVersion } from './list.ts';
import { withMetadata } from './metadata.ts';
import { type Selection, selectionOf } from './select.ts';

export interface WatchStart {
  readonly context: ServerContext;
  readonly target: Target;
  readonly selection: Selection;
  readonly render: RenderOptions;
  readonly query: URLSearchParams;
  readonly lines: LineCache;
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * @returns what starts the stream
 * @throws StatusError 400
 */
export const watchObjects = (
  context: ServerContext,
  target: Target,
  request: HttpRequest,
  render: RenderOptions,
  lines: LineCache = createLineCache(),
): ((sink: StreamSink) => () => void) => {
  const start = { context, target, selection: selectionOf(target, request), render, query: request.query, lines };
  const version = request.query.get('resourceVersion') ?? '';
  const from = version === '' || version === '0' ? undefined : parseVersion(version);
  return (sink) => stream(start, from, sink);
};

const stream = (start: WatchStart, from: number | undefined, sink: StreamSink): (() => void) => {
  const { context, target, query } = start;
  const { store, clock } = context;
  if (from !== undefined && (from < store.oldestRevision || from > store.revision)) {
    // A version from the future is one of an earlier life of this server: what it was then is as lost as what is too old.
    sendError(sink, expired(`too old resource version: ${from} (${store.oldestRevision})`));
    return () => {};
  }
  const writer = createEventWriter(start, sink);
  sendPast(start, from, writer);
  const stopListening = store.listen((event) => {
    if (event.collection === target.definition.collection) writer.change(event);
  });
  const stopBookmarks = repeat(start, () => writer.bookmark());
  const seconds = Number(query.get('timeoutSeconds') ?? 0) || 1800 + Math.floor(context.random() * 1800);
  const stopTimeout = clock.schedule(seconds * 1000, () => {
    writer.bookmark();
    stop();
    sink.end();
  });
  const stop = (): void => {
    stopListening();
    stopBookmarks();
    stopTimeout();
  };
  return stop;
};

/** What happened before the watch began: the objects of now, or the changes since a version. */
const sendPast = (
  { context, target, selection, query }: WatchStart,
  from: number | undefined,
  writer: EventWriter,
): void => {
  const { store } = context;
  const initial = query.get('sendInitialEvents');
  if (from === undefined || initial === 'true') {
    if (initial === 'false') return;
    const objects = store.collection(target.definition.collection).range(selection.namespace);
    for (const stored of objects) if (selection.matches(stored)) writer.send('ADDED', stored);
    if (initial === 'true') writer.bookmark({ 'k8s.io/initial-events-end': 'true' });
    return;
  }
  for (const event of store.since(target.definition.collection, from)) writer.change(event);
};

interface EventWriter {
  change(event: StoreEvent): void;
  send(type: EventType, stored: Stored): void;
  bookmark(annotations?: Readonly<Record<string, string>>): void;
}

const createEventWriter = (
  { context, target, selection, render, query, lines }: WatchStart,
  sink: StreamSink,
): EventWriter => {
  const { definition } = target;
  const shared = render.format.as === 'object';
  let first = true;
  const send = (type: EventType, stored: Stored): void => {
    const make = (): Buffer => line(type, renderEventObject(definition, stored, render, first));
    sink.write(shared ? lines.get(definition, type, stored, make) : make());
    first = false;
  };
  return {
    send,
    change: (event) => {
      const type = typeFor(selection, event);
      if (type === undefined) return;
      send(type, type === 'DELETED' && event.type !== 'DELETED' ? lastMatching(event) : event.stored);
    },
    bookmark: (annotations) => {
      if (query.get('allowWatchBookmarks') !== 'true') return;
      const metadata = {
        resourceVersion: String(context.store.revision),
        creationTimestamp: null,
        ...(annotations === undefined ? {} : { annotations }),
      };
      const object = { kind: definition.kind, apiVersion: apiVersionOf(definition), metadata };
      sink.write(line('BOOKMARK', JSON.stringify(object)));
    },
  };
};

/** To whoever selects, an object that begins to match is new and one that ceases to match is gone. */
const typeFor = ({ matches }: Selection, { type, stored, previous }: StoreEvent): EventType | undefined => {
  const before = previous !== undefined && matches(previous);
  const after = type !== 'DELETED' && matches(stored);
  if (after) return before ? 'MODIFIED' : 'ADDED';
  return before ? 'DELETED' : undefined;
};

/** Of an object that goes on without matching: as it was when it still did, with the version of the change. */
const lastMatching = ({ stored, previous, revision }: StoreEvent): Stored =>
  previous === undefined
    ? stored
    : { ...previous, revision, object: withMetadata(previous.object, { resourceVersion: String(revision) }) };

const line = (type: string, object: string): Buffer => Buffer.from(`{"type":"${type}","object":${object}}\n`);

const sendError = (sink: StreamSink, error: StatusError): void => {
  sink.write(line('ERROR', JSON.stringify(statusOf(error))));
  sink.end();
};

const repeat = ({ context: { clock, bookmarkIntervalMs } }: WatchStart, action: () => void): (() => void) => {
  const again = (): void => {
    action();
    cancel = clock.schedule(bookmarkIntervalMs, again);
  };
  let cancel = clock.schedule(bookmarkIntervalMs, again);
  return () => cancel();
};
