/**
 * Every metric of the agent but those of the process itself. `docs/metrics.md` is made of it. Names are as Prometheus
 * recommends (https://prometheus.io/docs/practices/naming/): base units, and `_total` for what only grows.
 */
import { CNI_FAILURE_CAUSES } from '../cni/failure-cause.ts';

export interface MetricEntry {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** What is worth waking somebody, or what it is for where nothing is. */
  readonly use: string;
}

export const AGENT_METRICS = {
  udn_agent_cni_phase_duration_seconds: {
    type: 'histogram',
    help: 'Time of CNI calls by phase; phase "total" is the whole call.',
    labels: ['command', 'phase', 'failed'],
    use: 'alert: more than 5 % of calls with `failed="true"` for 10 minutes; 99 % of `ADD`, `total` above 5 s',
  },
  udn_agent_cni_failures_total: {
    type: 'counter',
    help: `CNI calls that failed, by cause: ${CNI_FAILURE_CAUSES.join(', ')}.`,
    labels: ['command', 'cause'],
    use: 'alert: any increase for 10 minutes of other causes than `deleted`, `interrupted`, `refused` and `waiting-for-network`; `udnctl problems` names the pods',
  },
  udn_agent_render_duration_seconds: {
    type: 'histogram',
    help: 'Time of rendering what one turn of events made stale.',
    use: 'capacity: grows with what changes at once',
  },
  udn_agent_rendered_fragments_total: {
    type: 'counter',
    help: 'Fragments that were rendered.',
    use: 'capacity: a rate that stays high says that something in the API changes all the time',
  },
  udn_agent_drift_repairs_total: {
    type: 'counter',
    help: 'Objects of ours that somebody had changed or removed.',
    labels: ['backend'],
    use: 'alert: any increase for 15 minutes: somebody else writes what is ours',
  },
  udn_agent_ovsdb_connected: {
    type: 'gauge',
    help: '1 while the database can be reached.',
    labels: ['database'],
    use: 'alert: 0 for 2 minutes',
  },
  udn_agent_ovsdb_transaction_duration_seconds: {
    type: 'histogram',
    help: 'Time of transactions that were committed.',
    labels: ['database'],
    use: 'capacity; its count is the number of transactions',
  },
  udn_agent_ovsdb_operations_total: {
    type: 'counter',
    help: 'Operations of transactions that were committed.',
    labels: ['database'],
    use: 'capacity: 0 while nothing changes',
  },
  udn_agent_ovsdb_failures_total: {
    type: 'counter',
    help: 'Transactions that failed.',
    labels: ['database'],
    use: 'alert: any increase for 15 minutes',
  },
  udn_agent_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Time of comparing what is there with what is wanted and writing the difference; full: all of it was read anew.',
    labels: ['backend', 'full'],
    use: 'capacity: a full comparison comes every 15 s and should take a fraction of that',
  },
  udn_agent_reconcile_written_total: {
    type: 'counter',
    help: 'Objects that were added, changed or removed.',
    labels: ['backend'],
    use: 'capacity: 0 while nothing changes',
  },
  udn_agent_reconcile_failures_total: {
    type: 'counter',
    help: 'Objects that could not be brought about, each time, and backends that did not answer.',
    labels: ['backend'],
    use: 'alert: any increase for 15 minutes; `udnctl doctor` on the node says what and why',
  },
  udn_agent_retries_total: {
    type: 'counter',
    help: 'Objects and transactions that were tried again after they had failed.',
    labels: ['backend'],
    use: 'together with the failures: retries that stop have succeeded',
  },
  udn_agent_queue_depth: {
    type: 'gauge',
    help: 'Objects that are still to be looked at, those that wait to be tried again among them.',
    labels: ['backend'],
    use: 'capacity: back at 0 soon after each change',
  },
  udn_agent_queue_oldest_seconds: {
    type: 'gauge',
    help: 'Time since there was nothing to do.',
    labels: ['backend'],
    use: 'alert: above 60 for 5 minutes: something does not get done',
  },
  udn_agent_wanted_objects: {
    type: 'gauge',
    help: 'Objects that are wanted of a backend.',
    labels: ['backend'],
    use: 'capacity',
  },
  udn_agent_unfinished_objects: {
    type: 'gauge',
    help: 'Objects that are not as wanted: failed, waiting, unsupported.',
    labels: ['backend', 'state'],
    use: 'alert: `state="failed"` above 0 for 5 minutes, `state="waiting"` for 15',
  },
  udn_agent_network_objects: {
    type: 'gauge',
    help: 'Objects that a network has in a backend.',
    labels: ['network', 'backend'],
    use: 'capacity: the same for networks of the same shape',
  },
  udn_agent_network_connections_ratio: {
    type: 'gauge',
    help: 'Connections that a network has of those that it may have on this node, in its fullest conntrack zone; only of networks that have nearly all.',
    labels: ['network'],
    use: 'alert: 1: new connections of the network are dropped; see `--connections-per-network`',
  },
  udn_agent_unprotected_peers: {
    type: 'gauge',
    help: 'Addresses of other nodes to which nothing is sent, as there is no IPsec with them; 0 where tunnels are not encrypted.',
    use: 'alert: above 0 for 5 minutes; `udnctl problems` names them',
  },
  udn_agent_netlink_oldest_call_seconds: {
    type: 'gauge',
    help: 'Age of the oldest unanswered request to the kernel.',
    use: 'alert: above 10: the kernel is stuck',
  },
  udn_agent_kubelet_cgroup_found: {
    type: 'gauge',
    help: '1 while it is known in which cgroup the kubelet is.',
    use: 'alert: 0 for 5 minutes: probes of pods with a primary network fail',
  },
  udn_agent_service_health_servers: {
    type: 'gauge',
    help: 'Ports on which load balancers are told whether a Service has endpoints on this node.',
    use: 'capacity',
  },
  udn_agent_service_port_clashes: {
    type: 'gauge',
    help: 'Ports that Services want of this node and that another process has.',
    use: 'alert: above 0 for 15 minutes; `udnctl problems` and events of the Services say which',
  },
  udn_agent_network_reports_total: {
    type: 'counter',
    help: 'What became of reports of what this node has of the networks: written, renewed (nothing has changed), failed; absent: the API server has no such kind.',
    labels: ['result'],
    use: 'alert: `rate{result="failed"}` above 0 for 30 minutes: what the API says of this node is old',
  },
  udn_agent_not_ready_reasons: {
    type: 'gauge',
    help: 'How many sentences /readyz says.',
    use: 'alert: above 0 for 5 minutes; the sentences are at `/readyz`',
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;

export type MetricName = keyof typeof AGENT_METRICS;

type OfType<Type extends MetricEntry['type']> = {
  [Name in MetricName]: (typeof AGENT_METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

export type GaugeName = OfType<'gauge'>;

export type LabelsOf<Name extends MetricName> = (typeof AGENT_METRICS)[Name] extends {
  readonly labels: readonly (infer Label extends string)[];
}
  ? Label
  : never;

/** What prom-client needs to know of a metric. */
export const described = <Name extends MetricName>(
  name: Name,
): { readonly name: Name; readonly help: string; readonly labelNames: LabelsOf<Name>[] } => {
  const { help, labels = [] }: MetricEntry = AGENT_METRICS[name];
  return { name, help, labelNames: [...labels] as LabelsOf<Name>[] };
};
