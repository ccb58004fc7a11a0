import { expect } from 'vitest';
import { isGone } from '../../../kube/errors.ts';
import { CONFIG_MAPS, PODS } from '../../../kube/resources.ts';
import type { WatchEvent, WatchOptions } from '../../../kube/types.ts';
import { watchEvents } from '../../../kube/watch/watch-events.ts';
import { at, type CaseContext, type Harness, newConfigMap, pod, withServiceAccount } from './harness.ts';

/** Reads events until `enough` says so, then ends the watch. */
const collect = async (
  { client, namespace, signal }: CaseContext,
  options: WatchOptions,
  enough: (events: readonly WatchEvent[]) => boolean,
  resource = CONFIG_MAPS,
): Promise<WatchEvent[]> => {
  const events: WatchEvent[] = [];
  for await (const event of watchEvents(await client.watch(resource, { namespace, ...options }, signal))) {
    events.push(event);
    if (enough(events)) break;
  }
  return events;
};

const summary = (events: readonly WatchEvent[]): string[] =>
  events.map(({ type, object }) => `${type} ${String(at(object, 'metadata', 'name'))}`);

export const watchCases = ({ test, options: { bookmarkSeconds = 5 } }: Harness): void => {
  test('delivers changes in order from a version on', async (context) => {
    const { client, namespace } = context;
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
    const created = await newConfigMap(context, 'a', { n: '1' });
    await newConfigMap(context, 'b');
    await client.update(CONFIG_MAPS, { ...created, data: { n: '2' } });
    await client.delete(CONFIG_MAPS, { namespace, name: 'a' });
    const mine = { fieldSelector: 'metadata.name!=kube-root-ca.crt', resourceVersion };
    const events = await collect(context, mine, ({ length }) => length === 4);
    expect(summary(events)).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED a']);
    expect(at(events[2]?.object, 'data')).toEqual({ n: '2' });
    expect(events[0]?.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const versions = events.map(({ object }) => Number(at(object, 'metadata', 'resourceVersion')));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(4);
  });

  test('hears of what happens while it is open', async (context) => {
    const { client, namespace, signal } = context;
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
    const selector = { namespace, resourceVersion, fieldSelector: 'metadata.name=a' };
    const stream = watchEvents(await client.watch(CONFIG_MAPS, selector, signal));
    const next = stream.next();
    await newConfigMap(context, 'a');
    expect(summary([(await next).value as WatchEvent])).toEqual(['ADDED a']);
    await stream.return();
  });

  test('can be given up at any time', async ({ client, namespace }) => {
    const reason = new Error('enough');
    const watch = async (abort: (stop: () => void) => void): Promise<unknown> => {
      const controller = new AbortController();
      abort(() => controller.abort(reason));
      try {
        for await (const _ of watchEvents(await client.watch(CONFIG_MAPS, { namespace }, controller.signal)));
      } catch (error) {
        return error;
      }
      return undefined;
    };
    // While the request is made, before it is sent, while it is under way, and while the stream is open.
    expect(await watch((stop) => queueMicrotask(stop))).toBe(reason);
    expect(await watch((stop) => void Promise.resolve().then(stop))).toBe(reason);
    expect(await watch((stop) => process.nextTick(stop))).toBe(reason);
    expect(await watch((stop) => setImmediate(stop))).toBe(reason);
    expect(await watch((stop) => setTimeout(stop, 50))).toBe(reason);
  });

  test('begins with what is there when no version is given', async (context) => {
    await newConfigMap(context, 'a');
    for (const resourceVersion of [undefined, '0']) {
      const selector = { fieldSelector: 'metadata.name=a', resourceVersion };
      expect(summary(await collect(context, selector, ({ length }) => length === 1))).toEqual(['ADDED a']);
    }
  });

  test('sees objects come and go by selector', async (context) => {
    const { client, namespace } = context;
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
    const label = (color: string) =>
      client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body: { metadata: { labels: { color } } } });
    await newConfigMap(context, 'a');
    await label('red');
    await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'merge', body: { data: { n: '1' } } });
    await label('blue');
    const selector = { labelSelector: 'color=red', resourceVersion };
    const events = await collect(context, selector, ({ length }) => length === 3);
    expect(summary(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  test('sees pods come to a node', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    const { resourceVersion } = await client.list(PODS, { namespace });
    await client.create(PODS, pod(namespace, 'a'));
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'a' },
      target: { kind: 'Node', name: 'n1' },
    };
    await client.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/a/binding`, body: binding });
    const selector = { fieldSelector: 'spec.nodeName=n1', resourceVersion };
    const events = await collect(context, selector, ({ length }) => length === 1, PODS);
    expect(summary(events)).toEqual(['ADDED a']);
    expect(at(events[0]?.object, 'spec', 'nodeName')).toBe('n1');
  });

  test('says that a version is too old', async (context) => {
    const { client, namespace, server } = context;
    if (server.compact === undefined) return;
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
    await newConfigMap(context, 'a');
    await server.compact();
    const reason = await collect(context, { resourceVersion }, ({ length }) => length === 1).then(
      ([event]) => ({ type: event?.type, code: at(event?.object, 'code') }),
      (error: unknown) => ({ type: 'ERROR', code: isGone(error) ? 410 : error }),
    );
    expect(reason).toEqual({ type: 'ERROR', code: 410 });
  });

  test('sends bookmarks and ends in time', async (context) => {
    const { client, namespace } = context;
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
    await newConfigMap(context, 'a');
    const options = { resourceVersion, allowWatchBookmarks: true, timeoutSeconds: bookmarkSeconds };
    const events = await collect(context, options, () => false);
    const bookmarks = events.filter(({ type }) => type === 'BOOKMARK');
    expect(bookmarks.length).toBeGreaterThan(0);
    expect(Number(at(bookmarks.at(-1)?.object, 'metadata', 'resourceVersion'))).toBeGreaterThanOrEqual(
      Number(resourceVersion),
    );
  });

  test('sends no bookmarks unasked', async (context) => {
    const { resourceVersion } = await context.client.list(CONFIG_MAPS, { namespace: context.namespace });
    const options = { resourceVersion, timeoutSeconds: 1, fieldSelector: 'metadata.name=none' };
    expect(await collect(context, options, () => false)).toEqual([]);
  });

  test('streams what is there and marks its end', async (context) => {
    await newConfigMap(context, 'a');
    const options = { sendInitialEvents: true, allowWatchBookmarks: true, fieldSelector: 'metadata.name=a' };
    const events = await collect(context, options, (seen) => seen.at(-1)?.type === 'BOOKMARK');
    expect(summary(events).slice(0, -1)).toEqual(['ADDED a']);
    expect(at(events.at(-1)?.object, 'metadata', 'annotations', 'k8s.io/initial-events-end')).toBe('true');
  });
};
