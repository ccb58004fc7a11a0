/** What the agent does, as Prometheus metrics. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { BackendName } from '../../api/agent-status.ts';
import type { StatusWrite } from '../cni/attachments/status-keeper.ts';
import type { CallFailure } from '../cni/call-failure.ts';
import type { CniObservation } from '../cni/phases.ts';
import type { DatabaseName, DatabaseObservation } from '../databases/database.ts';
import type { DnsObservation } from '../dns/resolver.ts';
import type { DatapathBackend } from '../reconcile/node-datapath.ts';
import type { LoopObservation } from '../reconcile/reconcile-loop.ts';
import type { ReportObservation } from '../status/network-report/reporter.ts';
import { described, type GaugeName, type LabelsOf } from './registry.ts';

export interface AgentMetrics {
  readonly contentType: string;
  text(): Promise<string>;
  cni(observation: CniObservation): void;
  cniFailure(failure: Pick<CallFailure, 'command' | 'cause'>): void;
  database(database: DatabaseName, observation: DatabaseObservation): void;
  datapath(backend: DatapathBackend, observation: LoopObservation): void;
  /** What is kept beside the reconcilers was changed by somebody, and is right again. */
  repaired(backend: BackendName): void;
  rendered(fragments: number, seconds: number): void;
  /** The northbound database has what changes of policies were to become. */
  policiesWritten(seconds: number): void;
  networkReport(observation: ReportObservation): void;
  /** The network-status of a pod was written, or not. */
  networkStatus(result: StatusWrite): void;
  /** A question about a domain name has been answered, or not. */
  domainQuery(result: DnsObservation['result']): void;
  /** A number that is asked for when somebody reads the metrics. */
  gauge(name: GaugeName, read: () => number): void;
  /** Many of them, distinguished by labels. */
  gauges<Name extends GaugeName>(
    name: Name,
    read: () => Iterable<readonly [Readonly<Record<LabelsOf<Name>, string>>, number]>,
  ): void;
}

export const createAgentMetrics = (registry = new Registry()): AgentMetrics => {
  // By default the event loop's lag is sampled a hundred times a second, which keeps an idle processor awake.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  const registers = [registry];
  const cni = new Histogram({
    ...described('udn_agent_cni_phase_duration_seconds'),
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60],
    registers,
  });
  const cniFailures = new Counter({ ...described('udn_agent_cni_failures_total'), registers });
  const renders = new Histogram({
    ...described('udn_agent_render_duration_seconds'),
    buckets: [0.0001, 0.0005, 0.002, 0.01, 0.05, 0.2, 1, 5],
    registers,
  });
  const policies = new Histogram({
    ...described('udn_agent_policy_latency_seconds'),
    buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 20],
    registers,
  });
  const fragments = new Counter({ ...described('udn_agent_rendered_fragments_total'), registers });
  const reports = new Counter({ ...described('udn_agent_network_reports_total'), registers });
  const statuses = new Counter({ ...described('udn_agent_network_status_writes_total'), registers });
  const domains = new Counter({ ...described('udn_agent_domain_queries_total'), registers });
  const shared = {
    drift: new Counter({ ...described('udn_agent_drift_repairs_total'), registers }),
    retries: new Counter({ ...described('udn_agent_retries_total'), registers }),
  };
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    cni: ({ command, phase, seconds, failed }) => cni.observe({ command, phase, failed: String(failed) }, seconds),
    cniFailure: ({ command, cause }) => cniFailures.inc({ command, cause }),
    database: databaseMetrics(registers, shared),
    datapath: datapathMetrics(registers, shared),
    repaired: (backend) => shared.drift.inc({ backend }),
    rendered: (count, seconds) => {
      fragments.inc(count);
      renders.observe(seconds);
    },
    policiesWritten: (seconds) => policies.observe(seconds),
    networkReport: ({ kind }) => reports.inc({ result: kind }),
    networkStatus: (result) => statuses.inc({ result }),
    domainQuery: (result) => domains.inc({ result }),
    gauges: (name, read) => {
      new Gauge<string>({
        ...described(name),
        registers,
        collect() {
          this.reset();
          for (const [labels, value] of read()) this.set(labels, value);
        },
      });
    },
    gauge: (name, read) => {
      new Gauge<string>({
        ...described(name),
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
};

interface Shared {
  readonly drift: Counter<'backend'>;
  readonly retries: Counter<'backend'>;
}

const databaseMetrics = (registers: Registry[], { drift, retries }: Shared): AgentMetrics['database'] => {
  const connected = new Gauge({ ...described('udn_agent_ovsdb_connected'), registers });
  const commits = new Histogram({
    ...described('udn_agent_ovsdb_transaction_duration_seconds'),
    buckets: [0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1, 5],
    registers,
  });
  const operations = new Counter({ ...described('udn_agent_ovsdb_operations_total'), registers });
  const failures = new Counter({ ...described('udn_agent_ovsdb_failures_total'), registers });
  return (name, observation) => {
    const labels = { database: name };
    if (observation.kind === 'state') connected.set(labels, observation.state.kind === 'connected' ? 1 : 0);
    if (observation.kind !== 'reconciler') return;
    const { event } = observation;
    if (event.kind === 'committed') {
      commits.observe(labels, event.durationMs / 1000);
      operations.inc(labels, event.operations);
    } else if (event.kind === 'failed') {
      failures.inc(labels);
      // Whoever is to blame later, all others at once.
      retries.inc({ backend: name });
    } else if (event.kind === 'drift') drift.inc({ backend: name });
  };
};

const datapathMetrics = (registers: Registry[], { drift, retries }: Shared): AgentMetrics['datapath'] => {
  const durations = new Histogram({
    ...described('udn_agent_reconcile_duration_seconds'),
    buckets: [0.001, 0.005, 0.02, 0.05, 0.2, 1, 5, 20],
    registers,
  });
  const written = new Counter({ ...described('udn_agent_reconcile_written_total'), registers });
  const failures = new Counter({ ...described('udn_agent_reconcile_failures_total'), registers });
  return (backend, observation) => {
    switch (observation.kind) {
      case 'drift':
        drift.inc({ backend }, driftCount(observation));
        return;
      case 'failed':
        failures.inc({ backend });
        return;
      case 'retried':
        retries.inc({ backend }, observation.keys);
        return;
      case 'reconciled':
        durations.observe({ backend, full: String(observation.full) }, observation.ms / 1000);
        written.inc({ backend }, observation.written);
        failures.inc({ backend }, observation.failed);
    }
  };
};

const driftCount = ({ keys, count }: Extract<LoopObservation, { kind: 'drift' }>): number =>
  count ?? (keys === 'all' ? 1 : keys.size);

/** What is still to be done, by backend. */
export const observeQueues = (
  { gauges }: Pick<AgentMetrics, 'gauges'>,
  queues: () => ReadonlyMap<string, { readonly depth: number; readonly oldestMs: number }>,
): void => {
  gauges('udn_agent_queue_depth', () => [...queues()].map(([backend, { depth }]) => [{ backend }, depth] as const));
  gauges('udn_agent_queue_oldest_seconds', () =>
    [...queues()].map(([backend, { oldestMs }]) => [{ backend }, oldestMs / 1000] as const),
  );
};
