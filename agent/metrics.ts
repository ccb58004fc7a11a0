/** What the agent does, as Prometheus metrics. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CniObservation } from './cni/phases.ts';
import type { DatabaseName, DatabaseObservation } from './databases/database.ts';

export interface AgentMetrics {
  readonly contentType: string;
  text(): Promise<string>;
  cni(observation: CniObservation): void;
  database(database: DatabaseName, observation: DatabaseObservation): void;
  rendered(fragments: number, seconds: number): void;
  /** A number that is asked for when somebody reads the metrics. */
  gauge(name: string, help: string, read: () => number): void;
}

export const createAgentMetrics = (): AgentMetrics => {
  const registry = new Registry();
  // By default the event loop's lag is sampled a hundred times a second, which keeps an idle processor awake.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  const registers = [registry];
  const cni = new Histogram({
    name: 'udn_agent_cni_phase_duration_seconds',
    help: 'Time of CNI calls by phase; phase "total" is the whole call.',
    labelNames: ['command', 'phase', 'failed'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60],
    registers,
  });
  const renders = new Histogram({
    name: 'udn_agent_render_duration_seconds',
    help: 'Time of rendering what one turn of events made stale.',
    buckets: [0.0001, 0.0005, 0.002, 0.01, 0.05, 0.2, 1, 5],
    registers,
  });
  const fragments = new Counter({
    name: 'udn_agent_rendered_fragments_total',
    help: 'Fragments that were rendered.',
    registers,
  });
  const database = databaseMetrics(registers);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    cni: ({ command, phase, seconds, failed }) => cni.observe({ command, phase, failed: String(failed) }, seconds),
    database,
    rendered: (count, seconds) => {
      fragments.inc(count);
      renders.observe(seconds);
    },
    gauge: (name, help, read) => {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
};

const databaseMetrics = (registers: Registry[]): AgentMetrics['database'] => {
  const labelNames = ['database'] as const;
  const connected = new Gauge({
    name: 'udn_agent_ovsdb_connected',
    help: '1 while the database can be reached.',
    labelNames,
    registers,
  });
  const commits = new Histogram({
    name: 'udn_agent_ovsdb_transaction_duration_seconds',
    help: 'Time of transactions that were committed.',
    labelNames,
    buckets: [0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1, 5],
    registers,
  });
  const operations = new Counter({
    name: 'udn_agent_ovsdb_operations_total',
    help: 'Operations of transactions that were committed.',
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: 'udn_agent_ovsdb_failures_total',
    help: 'Transactions that failed.',
    labelNames,
    registers,
  });
  const drift = new Counter({
    name: 'udn_agent_drift_repairs_total',
    help: 'Objects of ours that somebody had changed or removed.',
    labelNames,
    registers,
  });
  return (name, observation) => {
    const labels = { database: name };
    if (observation.kind === 'state') connected.set(labels, observation.state.kind === 'connected' ? 1 : 0);
    if (observation.kind !== 'reconciler') return;
    const { event } = observation;
    if (event.kind === 'committed') {
      commits.observe(labels, event.durationMs / 1000);
      operations.inc(labels, event.operations);
    } else if (event.kind === 'failed') failures.inc(labels);
    else if (event.kind === 'drift') drift.inc(labels);
  };
};
