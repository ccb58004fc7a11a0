/** An API server in memory, without sockets. */
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { createKubeClient } from '../client/client.ts';
import type { ServerContext } from './context.ts';
import { startGarbageCollector } from './controllers/garbage-collector.ts';
import { startNamespaceLifecycle } from './controllers/namespace-lifecycle.ts';
import { createWorker } from './controllers/worker.ts';
import { startCrdInstaller } from './crd/install.ts';
import { BUILTIN } from './definitions/builtin.ts';
import { createInProcessTransport } from './in-process-transport.ts';
import { createRegistry } from './registry.ts';
import { createHandler, type Handler } from './router.ts';
import { seedCluster } from './seed.ts';
import { createServiceAddresses } from './service-addresses.ts';
import { openFileJournal } from './store/file-journal.ts';
import type { Journal } from './store/journal.ts';
import { createSnapshots } from './store/snapshots.ts';
import { createStore } from './store/store.ts';
import type { EmbeddedCluster, EmbeddedClusterOptions } from './types.ts';
import { createLineCache } from './verbs/line-cache.ts';
import { createWatches, type Watches } from './watches.ts';

/** What the HTTP server needs of a cluster. */
export interface EmbeddedClusterCore extends EmbeddedCluster {
  readonly handle: Handler;
  readonly watches: Watches;
}

/** @throws KubeError ERR_KUBE_DATA when the file of `data` holds something else */
export const createEmbeddedCluster = (options: EmbeddedClusterOptions = {}): EmbeddedClusterCore => {
  const { data } = options;
  const journal =
    data === undefined ? undefined : openFileJournal(data, { onError: (error) => warn(`rewriting ${data}`, error) });
  const context = createContext(options, journal);
  const worker = createWorker(warn);
  const stops = [
    startCrdInstaller(context, worker),
    startGarbageCollector(context, worker),
    startNamespaceLifecycle(context, worker),
  ];
  context.store.restore(journal?.earlier);
  seedCluster(context, options);
  const handle = createHandler(context, createLineCache());
  const watches = createWatches();
  const transport = createInProcessTransport(handle, watches);
  return {
    transport,
    handle,
    watches,
    client: (userAgent = 'in-process') => createKubeClient({ transport, userAgent }),
    compact: () => {
      context.store.compact();
      context.snapshots.clear();
    },
    disconnectWatches: () => watches.endAll(),
    settled: () => worker.settled(),
    close: () => {
      for (const stop of stops) stop();
      worker.close();
      watches.endAll();
      journal?.close();
    },
  };
};

const warn = (what: string, error: unknown): void =>
  process.emitWarning(`${what}: ${messageOf(error)}`, 'EmbeddedApiServer');

const createContext = (options: EmbeddedClusterOptions, journal: Journal | undefined): ServerContext => {
  const { clock = systemClock, random = Math.random } = options;
  // Revisions go on from an earlier life of the server of which nothing is left, so that whatever is remembered from it is too old.
  const firstRevision = clock.wall() * 100;
  const store = createStore({ firstRevision, historySize: options.historySize ?? 20_000, journal });
  return {
    store,
    registry: createRegistry(BUILTIN),
    snapshots: createSnapshots(),
    services: createServiceAddresses(store, options.serviceCidrs ?? ['10.96.0.0/16']),
    clock,
    random,
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
  };
};
