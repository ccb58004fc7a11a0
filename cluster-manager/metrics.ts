/** What the cluster manager does, as Prometheus metrics. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Manager, ManagerObservation } from './controllers/manager.ts';

type Followed = { readonly state: Manager['state']; readonly mirrors: Pick<Manager['mirrors'], 'silenceMs'> };

export interface Metrics {
  observe(observation: ManagerObservation): void;
  /** Gauges that are read when somebody asks. */
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
  new Gauge({
    name: 'udn_clustermanager_networks',
    help: 'User-defined networks that have an id.',
    labelNames: ['topology', 'role'],
    registers,
    collect() {
      this.reset();
      for (const { network } of manager.state?.registry.networks() ?? []) {
        this.inc({ topology: network.topology, role: network.role });
      }
    },
  });
  new Gauge({
    name: 'udn_clustermanager_reserved_network_ids',
    help: 'Reserved ids of deleted networks whose removal some node has not reported.',
    registers,
    collect() {
      this.set(manager.state?.registry.ids.retired.size ?? 0);
    },
  });
  new Gauge({
    name: 'udn_clustermanager_silence_seconds',
    help: 'Longest time since the last response of the API server.',
    registers,
    collect() {
      this.set(manager.mirrors.silenceMs() / 1000);
    },
  });
};
