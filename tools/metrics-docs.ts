/** `docs/metrics.md`: what there is at `/metrics` of both daemons, made from where it is registered. */
import { type MetricObject, Registry } from 'prom-client';
import { AGENT_METRICS, type MetricEntry } from '../agent/metrics/registry.ts';
import { createMetrics } from '../cluster-manager/metrics/metrics.ts';
import { markdownTable } from './markdown.ts';

/** Of the cluster manager: what is worth waking somebody. */
export const MANAGER_USES: Readonly<Record<string, string>> = {
  udn_clustermanager_reconcile_seconds: 'capacity; its count is the number of reconciliations',
  udn_clustermanager_reconcile_failures_total: 'alert: any increase for 15 minutes; conditions of networks say why',
  udn_clustermanager_writes_total: 'alert: `outcome="failed"` increases for 15 minutes',
  udn_clustermanager_bad_objects_total: 'alert: any increase: the object is ignored until it is mended',
  udn_clustermanager_networks: 'capacity',
  udn_clustermanager_reserved_network_ids:
    'alert: above 0 for an hour: events of Nodes say which agents have not reported that deleted networks are gone',
  udn_clustermanager_silence_seconds: 'alert: above 120: the API server is not heard of',
  udn_clustermanager_build_info: 'which version runs where: `count by (version) (udn_clustermanager_build_info)`',
  udn_clustermanager_leader: 'alert: the sum of all cluster managers is not 1 for 2 minutes',
  udn_clustermanager_network_conditions: 'alert: `status="False"` with a reason of an error for 5 minutes',
  udn_clustermanager_network_ready: 'alert: 0 for 5 minutes; `udnctl why` says what the network waits for',
  udn_clustermanager_network_pool_used: 'alert: above 90 % of used and free together',
  udn_clustermanager_network_pool_free: 'alert: 0: pods, or nodes, get nothing of the network',
  udn_clustermanager_pods_waiting: 'alert: above 0 for 5 minutes; `udnctl problems` names the pods',
};

export interface ListedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly use: string;
}

/** Path from the repository's root → content. */
export const metricsDocs = (): Record<string, string> => ({ 'docs/metrics.md': text(managerMetrics()) });

export const agentMetrics = (): ListedMetric[] =>
  Object.entries(AGENT_METRICS).map(([name, { type, help, labels = [], use }]: [string, MetricEntry]) => ({
    name,
    type,
    help,
    labels,
    use,
  }));

export const managerMetrics = (): ListedMetric[] => {
  const registry = new Registry();
  createMetrics(registry).follow({
    state: undefined,
    networks: () => [],
    silenceMs: () => 0,
    waitingPods: () => new Map(),
    isLeading: () => false,
    build: { version: '', commit: '' },
  });
  return ofRegistry(registry)
    .filter(({ name }) => name.startsWith('udn_'))
    .map((metric) => ({ ...metric, use: MANAGER_USES[metric.name] ?? '' }));
};

/** prom-client's own list, which has more than its types say. */
export const ofRegistry = (registry: Registry): Omit<ListedMetric, 'use'>[] =>
  registry.getMetricsAsArray().map((metric: MetricObject & { readonly labelNames?: readonly string[] }) => ({
    name: metric.name,
    type: String(metric.type),
    help: metric.help,
    labels: metric.labelNames ?? [],
  }));

/** By the name, as Prometheus recommends. */
export const unitOf = (name: string): string => {
  if (name.includes('_seconds')) return 'seconds';
  return name.includes('_bytes') ? 'bytes' : 'number';
};

const text = (manager: readonly ListedMetric[]): string =>
  `${[
    '# Metrics and probes',
    'Made by `make gen` from where metrics are registered; `make check` fails when it is not current. Do not edit it.',
    'Both daemons serve `/metrics`, `/healthz` and `/readyz` at `--metrics-address`. Beside those below there are the metrics' +
      ' of the process that prom-client has for Node (`process_…`, `nodejs_…`).',
    ACCESS,
    PROBES,
    `## udn-agent\n\nSource: \`agent/metrics/registry.ts\`. \`backend\` is \`openflow\`, \`host\`, \`nftables\`, \`northbound\`, \`southbound\` or \`openvswitch\`.\n\n${table(agentMetrics())}`,
    `## udn-cluster-manager\n\nSource: \`cluster-manager/metrics/\`.\n\n${table(manager)}`,
  ].join('\n\n')}\n`;

const ACCESS = `## Who may read them

They name networks, and every process of a node reaches its loopback addresses, host-network pods of all tenants among them. So \`/metrics\` wants
a bearer token: the daemon asks the API server whose it is (TokenReview) and whether the account may \`get\` the path (SubjectAccessReview).
Bind the ClusterRole \`ovn-udn-metrics-reader\` to the account of Prometheus. A yes is kept for a minute, a no for ten seconds. Who tries
tokens is answered 503 but for ten, and then one a second, of each address (of IPv6 each /64); all addresses together have 50, then five a second. A
token that was allowed does not wait behind them, nor does the next one from the address that it came from, unless tokens are being tried from there: on a
loopback address all have one. While the API server does not answer, neither does \`/metrics\` to a token that it has not judged.

Of 256 connections at once, the one that has waited for longest without a question makes room for a new one; a question has to come within 5 s.

Connections to \`--metrics-address\` are not encrypted: keep it on a loopback address, for probes. For Prometheus on another node the same is served
with TLS at \`--metrics-tls-address\`, with \`tls.crt\` and \`tls.key\` of \`--metrics-tls-folder\`, which are reread when they change; a certificate that cannot be
used is logged, and the one before stays. The component \`daemonset/monitoring\` and the values \`monitoring\` of the chart set up all of this: PodMonitors, the
account of Prometheus, alerts and a dashboard. On the node, root reads the agent's without a token:
\`curl --unix-socket /run/ovn-udn/agent.sock http://agent/metrics\`.`;

const PROBES = `## Probes

Each answers everybody 200 and \`ok\`, or 503. Why it is 503, a sentence for each reason, is told to those who may \`get\` the path, and at
\`/readyz\` of the agent's socket.

${markdownTable(
  ['probe', 'of the agent: yes, while', 'of the cluster manager: yes, while'],
  [
    [
      '`/healthz`',
      'the event loop turns, and no place has work of which no step has ended for 5 minutes. It never fails because a database, a bridge or the API server is away, or because of an object',
      'the event loop turns',
    ],
    [
      '`/readyz`',
      'the API was read; the node has a subnet; the CNI socket is open; all three databases are connected; every place was compared once, and none fails for longer than 30 s; the gateway was seen since the agent started; host isolation is in nftables; where tunnels are to be encrypted, they can be; the kernel answers',
      'what exists was read, or another one leads',
    ],
  ],
)}

CNI calls are refused only while a pod could not be added at all ([cni.md](cni.md)): a place that is compared still, or a
gateway that is not known yet, keeps no pod waiting.`;

const table = (metrics: readonly ListedMetric[]): string =>
  markdownTable(
    ['name', 'type', 'labels', 'unit', 'what', 'use'],
    metrics.map(({ name, type, labels, help, use }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      unitOf(name),
      help.replace(/\.$/, ''),
      use,
    ]),
  );
