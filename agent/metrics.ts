/** What the agent does, as Prometheus metrics. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CniObservation } from './cni/phases.ts';
import type { DatabaseName, DatabaseObservation } from './databases/database.ts';
import type { BackendName } from './reconcile/node-datapath.ts';
import type { LoopObservation } from './reconcile/reconcile-loop.ts';

export interface AgentMetrics {
  readonly contentType: string;
  text(): Promise<string>;
  cni(observation: CniObservation): void;
  database(database: DatabaseName, observation: DatabaseObservation): void;
  datapath(backend: BackendName, observation: LoopObservation): void;
  /** What is kept beside the reconcilers was changed by somebody, and is right again. */
  repaired(backend: DatabaseName): void;
  rendered(fragments: number, seconds: number): void;
  /** A number that is asked for when somebody reads the metrics. */
  gauge(name: string, help: string, read: () => number): void;
  /** Many of them, told apart by labels. */
  gauges<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Iterable<readonly [Readonly<Record<Label, string>>, number]>,
  ): void;
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
  const drift = new Counter({
    name: 'udn_agent_drift_repairs_total',
    help: 'Objects of ours that somebody had changed or removed.',
    labelNames: ['backend'],
    registers,
  });
  const database = databaseMetrics(registers, drift);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    cni: ({ command, phase, seconds, failed }) => cni.observe({ command, phase, failed: String(failed) }, seconds),
    database,
    datapath: datapathMetrics(registers, drift),
    repaired: (backend) => drift.inc({ backend }),
    rendered: (count, seconds) => {
      fragments.inc(count);
      renders.observe(seconds);
    },
    gauges: (name, help, labelNames, read) => {
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        collect() {
          this.reset();
          for (const [labels, value] of read()) this.set(labels, value);
        },
      });
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

const databaseMetrics = (registers: Registry[], drift: Counter<'backend'>): AgentMetrics['database'] => {
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
  return (name, observation) => {
    const labels = { database: name };
    if (observation.kind === 'state') connected.set(labels, observation.state.kind === 'connected' ? 1 : 0);
    if (observation.kind !== 'reconciler') return;
    const { event } = observation;
    if (event.kind === 'committed') {
      commits.observe(labels, event.durationMs / 1000);
      operations.inc(labels, event.operations);
    } else if (event.kind === 'failed') failures.inc(labels);
    else if (event.kind === 'drift') drift.inc({ backend: name });
  };
};

const datapathMetrics = (registers: Registry[], drift: Counter<'backend'>): AgentMetrics['datapath'] => {
  const durations = new Histogram({
    name: 'udn_agent_reconcile_duration_seconds',
    help: 'Time of comparing what is there with what is wanted and writing the difference; full: all of it was read anew.',
    labelNames: ['backend', 'full'],
    buckets: [0.001, 0.005, 0.02, 0.05, 0.2, 1, 5, 20],
    registers,
  });
  const labelNames = ['backend'] as const;
  const written = new Counter({
    name: 'udn_agent_reconcile_written_total',
    help: 'Objects that were added, changed or removed.',
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: 'udn_agent_reconcile_failures_total',
    help: 'Objects that could not be brought about, each time, and backends that did not answer.',
    labelNames,
    registers,
  });
  return (backend, observation) => {
    if (observation.kind === 'drift') drift.inc({ backend }, driftCount(observation));
    else if (observation.kind === 'failed') failures.inc({ backend });
    else {
      durations.observe({ backend, full: String(observation.full) }, observation.ms / 1000);
      written.inc({ backend }, observation.written);
      failures.inc({ backend }, observation.failed);
    }
  };
};

const driftCount = ({ keys, count }: Extract<LoopObservation, { kind: 'drift' }>): number =>
  count ?? (keys === 'all' ? 1 : keys.size);
