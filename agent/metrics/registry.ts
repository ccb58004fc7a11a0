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
  udn_agent_build_info: {
    type: 'gauge',
    help: '1, with the version of the program and the commit that it was built of.',
    labels: ['version', 'commit'],
    use: 'which version runs where: `count by (version) (udn_agent_build_info)`',
  },
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
    help: 'Time to render what one batch of events invalidated.',
    use: 'capacity: grows with the size of a batch of changes',
  },
  udn_agent_rendered_fragments_total: {
    type: 'counter',
    help: 'Rendered fragments of desired state.',
    use: 'capacity: a lasting high rate means that objects in the API change all the time',
  },
  udn_agent_drift_repairs_total: {
    type: 'counter',
    help: 'Owned objects that were changed or removed from outside.',
    labels: ['backend'],
    use: 'alert: any increase for 15 minutes: another program writes owned objects',
  },
  udn_agent_policy_rules: {
    type: 'gauge',
    help: 'Rules of network policies that pods of this node are in; equal ones of several policies are one.',
    use: 'capacity: each is an ACL, and each new one has northd compute its zone again',
  },
  udn_agent_firewall_rules: {
    type: 'gauge',
    help: 'Rules of egress firewalls that pods of this node are under, per network, family and single port.',
    use: 'capacity: each is an ACL, and each new one has northd compute its zone again',
  },
  udn_agent_policy_peer_sets: {
    type: 'gauge',
    help: 'Sets of peers that these rules name.',
    use: 'capacity: with `udn_agent_policy_set_members`, how large the sets are',
  },
  udn_agent_policy_set_members: {
    type: 'gauge',
    help: 'Addresses in these sets; one that is in several counts in each.',
    use: 'capacity: flows of this node grow with them',
  },
  udn_agent_policy_failures: {
    type: 'gauge',
    help: 'Objects of which an error of the agent kept it from working out what policies make of them: pods are closed meanwhile.',
    use: 'alert: not 0 for 15 minutes; `udnctl problems` names the objects',
  },
  udn_agent_policy_latency_seconds: {
    type: 'histogram',
    help: 'Time from when the agent hears of a change of policies or egress firewalls, of pods of this node, until the northbound database has it; other changes of the same moment are in it.',
    use: 'alert: 99 % above 5 s for 10 minutes: the database or the node is overloaded',
  },
  udn_agent_policy_rebuilds: {
    type: 'gauge',
    help: 'How often the agent has rebuilt its index of all policies since it started, after such an error.',
    use: 'debugging: with `udn_agent_policy_failures`, whether that helped',
  },
  udn_agent_domain_names: {
    type: 'gauge',
    help: 'Domain names that rules of policies name, by state: unresolved, resolved, failed.',
    labels: ['state'],
    use: 'alert: `state="failed"` above 0 for 15 minutes; `udnctl problems` names them and the server\'s answer',
  },
  udn_agent_domain_addresses: {
    type: 'gauge',
    help: 'Addresses that these names stand for, with those of answers before the last that still count.',
    use: 'capacity: each is an element of an address set per network that has such a rule',
  },
  udn_agent_domain_age_seconds: {
    type: 'gauge',
    help: 'Time since the last answer about the name that has gone without one for the longest.',
    use: 'alert: above 2700 for 15 minutes: after an hour without an answer nothing is allowed by the name',
  },
  udn_agent_domain_queries_total: {
    type: 'counter',
    help: 'Questions about these names, by result: addresses, nonexistent, failed.',
    labels: ['result'],
    use: 'capacity: about two per name and time to live, and no more than 100 per second',
  },
  udn_agent_wildcards: {
    type: 'gauge',
    help: 'Wildcards of domain names that rules of policies follow, by state: answered, unanswered, unfollowed.',
    labels: ['state'],
    use: 'alert: `state="unfollowed"` above 0 for 15 minutes; `udnctl problems` says why',
  },
  udn_agent_wildcard_addresses: {
    type: 'gauge',
    help: 'Addresses that these wildcards stand for.',
    use: 'capacity: each is an element of an address set per network that has such a rule',
  },
  udn_agent_ovsdb_connected: {
    type: 'gauge',
    help: '1 while the database can be reached.',
    labels: ['database'],
    use: 'alert: 0 for 2 minutes',
  },
  udn_agent_ovsdb_transaction_duration_seconds: {
    type: 'histogram',
    help: 'Duration of committed transactions.',
    labels: ['database'],
    use: 'capacity; its count is the number of transactions',
  },
  udn_agent_ovsdb_operations_total: {
    type: 'counter',
    help: 'Operations of committed transactions.',
    labels: ['database'],
    use: 'capacity: 0 while nothing changes',
  },
  udn_agent_ovsdb_failures_total: {
    type: 'counter',
    help: 'Failed transactions.',
    labels: ['database'],
    use: 'alert: any increase for 15 minutes',
  },
  udn_agent_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Time to compare actual with desired state and write the difference; full: all of it was read again.',
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
    help: 'Failed attempts to program an object, and backends that did not answer.',
    labels: ['backend'],
    use: 'alert: any increase for 15 minutes; see `udnctl doctor` on the node',
  },
  udn_agent_retries_total: {
    type: 'counter',
    help: 'Retries of objects and transactions after a failure.',
    labels: ['backend'],
    use: 'together with the failures: retries that stop have succeeded',
  },
  udn_agent_queue_depth: {
    type: 'gauge',
    help: 'Objects to reconcile, including those that wait for a retry.',
    labels: ['backend'],
    use: 'capacity: back at 0 soon after each change',
  },
  udn_agent_queue_oldest_seconds: {
    type: 'gauge',
    help: 'Time since the queue was last empty.',
    labels: ['backend'],
    use: 'alert: above 60 for 5 minutes: reconciliation keeps failing',
  },
  udn_agent_wanted_objects: {
    type: 'gauge',
    help: 'Desired objects of a backend.',
    labels: ['backend'],
    use: 'capacity',
  },
  udn_agent_unfinished_objects: {
    type: 'gauge',
    help: 'Objects that differ from the desired state: failed, waiting, unsupported.',
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
    help: 'Share of its connection limit that a network uses on this node, in its fullest conntrack zone; only for networks near the limit.',
    labels: ['network'],
    use: 'alert: 1: new connections of the network are dropped; see `--connections-per-network`',
  },
  udn_agent_component_state: {
    type: 'gauge',
    help: '1 for the current state of the component: working, failed, or unknown because a component that it depends on has failed.',
    labels: ['component', 'state'],
    use: 'alert: `state="working"` is 0 for 1 minute; `udnctl status` has the cause',
  },
  udn_agent_unprotected_peers: {
    type: 'gauge',
    help: 'Addresses of other nodes without IPsec, to which no traffic is sent; 0 where tunnels are not encrypted.',
    use: 'alert: above 0 for 5 minutes; `udnctl problems` names them',
  },
  udn_agent_netlink_oldest_call_seconds: {
    type: 'gauge',
    help: 'Age of the oldest unanswered request to the kernel.',
    use: 'alert: above 10: the kernel is stuck',
  },
  udn_agent_kubelet_cgroup_found: {
    type: 'gauge',
    help: '1 while the cgroup of the kubelet is known and a process is in it.',
    use: 'alert: 0 for 5 minutes: probes of pods with a primary network fail',
  },
  udn_agent_service_health_servers: {
    type: 'gauge',
    help: 'Open health check ports, which report to load balancers whether a Service has endpoints on this node.',
    use: 'capacity',
  },
  udn_agent_service_port_clashes: {
    type: 'gauge',
    help: 'Ports of Services and pods (hostPort) on this node that another process listens on; of a pod, once for each address.',
    use: 'alert: above 0 for 15 minutes; `udnctl problems` and events of the Services and pods say which',
  },
  udn_agent_network_reports_total: {
    type: 'counter',
    help: 'Results of writing the NodeNetworkReport: written, renewed (unchanged), failed; absent: the API server does not serve the kind.',
    labels: ['result'],
    use: 'alert: `rate{result="failed"}` above 0 for 30 minutes: the report of this node is stale',
  },
  udn_agent_network_status_writes_total: {
    type: 'counter',
    help: 'Writes of the network-status of pods, by result: written, failed. About one per ADD.',
    labels: ['result'],
    use: 'capacity: `written` above the rate of ADDs means that another program writes the annotation, too',
  },
  udn_agent_network_status_unwritten: {
    type: 'gauge',
    help: 'Pods of this node whose network-status the API server has refused.',
    use: 'alert: above 0 for 15 minutes; `udnctl problems` names the pods and the answer',
  },
  udn_agent_not_ready_reasons: {
    type: 'gauge',
    help: 'Number of reasons that /readyz returns.',
    use: 'alert: above 0 for 5 minutes; `/readyz` lists the reasons',
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
