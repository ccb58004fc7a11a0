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
    '`make gen` generates this page from the registered metrics; `make check` fails when it is outdated. Do not edit it.',
    'Both daemons serve `/metrics`, `/healthz` and `/readyz` at `--metrics-address`. In addition to those below they have' +
      ' prom-client’s metrics of a Node process (`process_…`, `nodejs_…`).',
    ACCESS,
    PROBES,
    `## udn-agent\n\nSource: \`agent/metrics/registry.ts\`. \`backend\` is \`openflow\`, \`host\`, \`nftables\`, \`northbound\`, \`southbound\` or \`openvswitch\`.\n\n${table(agentMetrics())}`,
    `## udn-cluster-manager\n\nSource: \`cluster-manager/metrics/\`.\n\n${table(manager)}`,
  ].join('\n\n')}\n`;

const ACCESS = `## Who may read them

Metrics name networks, and every process of a node reaches its loopback addresses, including host-network pods of all tenants. So \`/metrics\` requires
a bearer token: the daemon asks the API server for its account (TokenReview) and whether the account may \`get\` the path (SubjectAccessReview).
Bind the ClusterRole \`ovn-udn-metrics-reader\` to the account of Prometheus. A positive result is cached for a minute, a negative one for ten seconds. Unknown
tokens are limited to ten, then one a second, per address (for IPv6 per /64), and to 50, then five a second, for all addresses together; others get 503. An
allowed token does not wait behind them, nor does the next one from its address, unless other tokens are tried from there: on a
loopback address all clients share one. While the API server does not answer, \`/metrics\` does not answer unknown tokens either.

At most 256 connections are open at once: the one that has been idle longest is closed for a new one. A request has to arrive within 5 s.

Connections to \`--metrics-address\` are not encrypted: keep it on a loopback address, for probes. For Prometheus on another node, the daemons serve the same
with TLS at \`--metrics-tls-address\`, with \`tls.crt\` and \`tls.key\` of \`--metrics-tls-folder\`, which are reread when they change; an unusable certificate
is logged, and the previous one stays. The component \`daemonset/monitoring\` and the values \`monitoring\` of the chart set up all of this: PodMonitors, the
account of Prometheus, alerts and a dashboard. On the node, root reads the agent's without a token:
\`curl --unix-socket /run/ovn-udn/agent.sock http://agent/metrics\`.`;

const PROBES = `## Probes

Each answers every client 200 and \`ok\`, or 503. The reasons of a 503, one message each, are returned to accounts that may \`get\` the path, and at
\`/readyz\` of the agent's socket.

${markdownTable(
  ['probe', 'of the agent: 200 while', 'of the cluster manager: 200 while'],
  [
    [
      '`/healthz`',
      'the event loop turns, and no backend has pending work without progress for 5 minutes. It never fails because a database, a bridge or the API server is down, or because of an object',
      'the event loop turns',
    ],
    [
      '`/readyz`',
      'the API was read; the node has a subnet; the CNI socket is open; all three databases are connected, and the southbound and the Open_vSwitch database accept writes; ovs-vswitchd responds; ovn-northd and ovn-controller process changes; every backend was compared once, and none fails for longer than 30 s; the gateway was observed since the agent started; host isolation is in nftables; if tunnels are to be encrypted, they can be; the kernel answers',
      'all objects were read, or another instance leads',
    ],
  ],
)}

CNI calls fail only while no pod could be added at all ([cni.md](cni.md)): a backend that is still being compared, or a
gateway that is not known yet, blocks no pod.`;

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
