/** What the cluster manager does, as Prometheus metrics. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ManagerObservation } from '../controllers/manager.ts';
import { WAITING_CAUSES, type WaitingCause } from '../controllers/waiting-pods.ts';
import { type NetworkSources, registerNetworkGauges } from './network-gauges.ts';

/** What the gauges read when somebody asks. */
export interface Followed extends NetworkSources {
  silenceMs(): number;
  waitingPods(): ReadonlyMap<WaitingCause, number>;
  /** Whether this process holds the Lease, or works without one. */
  isLeading(): boolean;
  readonly build: { readonly version: string; readonly commit: string };
}

export interface Metrics {
  observe(observation: ManagerObservation): void;
  follow(manager: Followed): void;
  readonly contentType: string;
  text(): Promise<string>;
}

export const createMetrics = (registry = new Registry()): Metrics => {
  // By default the event loop's lag is sampled a hundred times a second, which keeps an idle processor awake.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  const registers = [registry];
  const reconciles = new Histogram({
    name: 'udn_clustermanager_reconcile_seconds',
    help: 'Time of one reconciliation.',
    labelNames: ['controller'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  const failures = new Counter({
    name: 'udn_clustermanager_reconcile_failures_total',
    help: 'Failed reconciliations, which are retried.',
    labelNames: ['controller'],
    registers,
  });
  const writes = new Counter({
    name: 'udn_clustermanager_writes_total',
    help: 'Writes to the API server by outcome.',
    labelNames: ['resource', 'outcome'],
    registers,
  });
  const bad = new Counter({
    name: 'udn_clustermanager_bad_objects_total',
    help: 'Object versions that could not be parsed.',
    labelNames: ['resource'],
    registers,
  });
  return {
    observe: (observation) => {
      if (observation.source === 'queue') {
        const { controller, about } = observation;
        if (about.kind === 'done') reconciles.observe({ controller }, about.milliseconds / 1000);
        else failures.inc({ controller });
      } else if (observation.source === 'writer') {
        writes.inc({ resource: observation.about.resource.plural, outcome: observation.about.kind });
      } else if (observation.source === 'mirror' && observation.about.kind === 'bad') {
        bad.inc({ resource: observation.about.resource });
      }
    },
    follow: (manager) => followState(registers, manager),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
};

const followState = (registers: Registry[], manager: Followed): void => {
  registerNetworkGauges(registers, manager);
  new Gauge({
    name: 'udn_clustermanager_build_info',
    help: '1, with the version of the program and the commit that it was built of.',
    labelNames: ['version', 'commit'],
    registers,
  }).set(manager.build, 1);
  const gauges = {
    udn_clustermanager_reserved_network_ids: {
      help: 'Reserved ids of deleted networks whose removal some node has not reported.',
      read: () => manager.state?.registry.ids.retired.size ?? 0,
    },
    udn_clustermanager_silence_seconds: {
      help: 'Longest time since the last response of the API server; 0 where another cluster manager leads.',
      read: () => (manager.isLeading() ? manager.silenceMs() / 1000 : 0),
    },
    udn_clustermanager_leader: {
      help: '1 while this process leads: it holds the Lease, or works without one.',
      read: () => (manager.isLeading() ? 1 : 0),
    },
  };
  for (const [name, { help, read }] of Object.entries(gauges)) {
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });
  }
  new Gauge({
    name: 'udn_clustermanager_pods_waiting',
    help: 'Pods that wait for a layer-2 network, by cause: no_free_address, refused (an event of the pod has the reason), or claim (the IPAMClaim is not written yet).',
    labelNames: ['cause'],
    registers,
    collect() {
      const counts = manager.waitingPods();
      for (const cause of WAITING_CAUSES) this.set({ cause }, counts.get(cause) ?? 0);
    },
  });
};
