/** `udn-cluster-manager`: one per cluster. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock } from '../base/clock.ts';
import { createDelegatedAccess } from '../kube/access/delegated-access.ts';
import { connect } from '../kube/client/connect.ts';
import { loadConnection } from '../kube/config/load.ts';
import { createEventRecorder } from '../kube/events/recorder.ts';
import packageJson from '../package.json' with { type: 'json' };
import { commitOfBuild } from '../program/build-info.ts';
import { openLog } from '../program/log.ts';
import { startMetricsListeners } from '../program/metrics-listeners.ts';
import { releaseMemory } from '../program/release-memory.ts';
import { runProgram } from '../program/run.ts';
import { findApiServer, findByKubelet } from './api-server.ts';
import { cleanNodes } from './cleanup/clean-nodes.ts';
import { createManager, type Manager } from './controllers/manager.ts';
import { whenLeading } from './leadership.ts';
import { createObservationLog } from './log.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { type CleanupOptions, helpText, type Options, parseCommand } from './options.ts';

const NAME = 'udn-cluster-manager';

const main = async (signal: AbortSignal): Promise<void> => {
  const command = parseCommand(process.argv.slice(2), process.env);
  if (command.kind === 'help') process.stdout.write(helpText());
  else if (command.kind === 'version') process.stdout.write(`${NAME} ${packageJson.version}\n`);
  else if (command.kind === 'cleanup') await cleanUp(command.options);
  else await run(command.options, signal);
};

const cleanUp = async ({ kubeconfig, context, logLevel, ...options }: CleanupOptions): Promise<void> => {
  const { log } = openLog(NAME, logLevel);
  const findServer = findByKubelet(options, log);
  const client = connect(await loadConnection({ kubeconfig, context, env: process.env, findServer }), {
    userAgent: `${NAME}/${packageJson.version}`,
  });
  try {
    await cleanNodes({ client, log });
  } finally {
    client.close();
  }
};

const run = async (options: Options, signal: AbortSignal): Promise<void> => {
  const { log } = openLog(NAME, options.logLevel);
  const { kubeconfig, context, cluster, limits, lease, electsLeader } = options;
  const findServer = findApiServer(options, signal);
  const connection = await loadConnection({ kubeconfig, context, env: process.env, findServer });
  const userAgent = `${NAME}/${packageJson.version}`;
  // With connections of its own the Lease is renewed however much there is to write.
  const leaseClient = connect(connection, { userAgent });
  let isHeld = (): boolean => false;
  const client = connect(connection, { userAgent, mayWrite: () => isHeld() });
  const events = createEventRecorder({ client, component: NAME });
  const metrics = createMetrics();
  const logObservation = createObservationLog(log);
  const manager = createManager({
    client,
    events,
    cluster,
    limits,
    dnsNameResolver: options.dnsNameResolver,
    observe: (observation) => {
      metrics.observe(observation);
      logObservation(observation);
      if (observation.source === 'caught-up') void releaseStart(log);
    },
  });
  // Ready to take over, where it does not lead.
  let isStandby = electsLeader;
  let isReached = false;
  const lead = (leading: AbortSignal, held: () => boolean): Promise<void> => {
    isStandby = false;
    isHeld = held;
    return manager.run(leading);
  };
  followManager(metrics, manager, () => isHeld());
  const answers = {
    contentType: metrics.contentType,
    metrics: () => metrics.text(),
    // Whoever leads and cannot renew the Lease ends; what waits for the API server is not helped by a new process.
    notAlive: () => [],
    // Those that do not lead have metrics, too: with the client that may always write.
    access: createDelegatedAccess({ client: leaseClient, clock: systemClock }),
    notReady: () => {
      if (!isReached)
        return [
          `the API server ${connection.server} has not answered the request for the Lease ${lease.namespace}/${lease.name}`,
        ];
      return isStandby || manager.state !== undefined ? [] : manager.mirrors.unread();
    },
  };
  const onStale = (error: unknown): void => log.warn({ err: error }, 'the certificate of the metrics was not replaced');
  const http = await startMetricsListeners(options.metrics, answers, onStale);
  log.info({ server: connection.server, metricsPort: http.port, metricsTlsPort: http.tlsPort }, 'started');
  try {
    const onReached = (): void => {
      isReached = true;
    };
    await whenLeading({ client: leaseClient, lease, electsLeader, log, onReached }, lead, signal);
  } finally {
    await http.close();
    client.close();
    leaseClient.close();
  }
  log.info('stopped');
};

const followManager = (metrics: Metrics, manager: Manager, isLeading: () => boolean): void => {
  const { caches } = manager.mirrors;
  metrics.follow({
    get state() {
      return manager.state;
    },
    networks: () => [...caches.udns.values(), ...caches.cudns.values()],
    silenceMs: () => manager.mirrors.silenceMs(),
    waitingPods: () => manager.waiting.counts(),
    isLeading,
    build: { version: packageJson.version, commit: commitOfBuild() },
  });
};

/** Of `make build`, beside `dist` as beside this folder. */
const MEMORY_ADDON = join(import.meta.dirname, '..', 'build', 'memory.node');

const releaseStart = (log: Logger): Promise<void> =>
  releaseMemory(MEMORY_ADDON).catch((error: unknown) =>
    log.warn({ err: error }, 'startup memory not returned to the system'),
  );

// Nothing waits for it: bundles of daemons are no modules (program/compiled.ts).
void runProgram(NAME, main);
