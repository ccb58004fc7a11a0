/** `daemonset/monitoring/dashboard.json`: a dashboard for Grafana, made of the list of its panels. */

interface Panel {
  readonly title: string;
  readonly type: 'stat' | 'timeseries' | 'table';
  readonly unit?: string;
  /** Of 24 columns. */
  readonly width: number;
  readonly targets: readonly Target[];
  /** A stat from here on is green, below it red; or the other way round. */
  readonly goodFrom?: number;
  readonly badFrom?: number;
}

interface Target {
  readonly expr: string;
  readonly legend: string;
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const NODE = 'node=~"$node"';
const NETWORK = 'network=~"$network"';

const one = (expr: string, legend = ''): readonly Target[] => [{ expr, legend }];

const stat = (title: string, expr: string, rest: Partial<Panel> = {}): Panel => ({
  ...{ title, type: 'stat', width: 4, targets: one(expr) },
  ...rest,
});

const graph = (title: string, unit: string, ...targets: readonly Target[]): Panel => ({
  ...{ title, type: 'timeseries', unit, width: 12, targets },
});

const quantile = (q: number, metric: string, by: string, matchers = ''): string =>
  `histogram_quantile(${q}, sum by (${by}, le) (rate(${metric}_bucket{${[NODE, matchers].filter(Boolean).join(', ')}}[5m])))`;

const ROWS: readonly Row[] = [
  {
    title: 'Overview',
    panels: [
      stat('Agents that answer', 'sum(up{job="udn-agent"})', { goodFrom: 1 }),
      stat('Agents that do not', 'sum(1 - up{job="udn-agent"})', { badFrom: 1 }),
      stat('Agents not ready', 'count(udn_agent_not_ready_reasons > 0) or vector(0)', { badFrom: 1 }),
      stat('Cluster managers that lead', 'sum(udn_clustermanager_leader)', { goodFrom: 1 }),
      stat('Networks not ready', 'count(udn_clustermanager_network_ready == 0) or vector(0)', { badFrom: 1 }),
      stat('Pods that wait for addresses', 'sum(udn_clustermanager_pods_waiting)', { badFrom: 1 }),
      {
        ...{ title: 'Versions', type: 'table', width: 12 },
        targets: [
          { expr: 'count by (version, commit) (udn_agent_build_info)', legend: 'udn-agent' },
          { expr: 'count by (version, commit) (udn_clustermanager_build_info)', legend: 'udn-cluster-manager' },
        ],
      },
      graph('Reasons of agents that are not ready', 'none', {
        expr: `udn_agent_not_ready_reasons{${NODE}} > 0`,
        legend: '{{node}}',
      }),
    ],
  },
  {
    title: 'Networks',
    panels: [
      graph('Networks by their condition Ready', 'none', {
        expr: 'max by (status, reason) (udn_clustermanager_network_conditions{condition="Ready"})',
        legend: '{{status}} {{reason}}',
      }),
      graph('The fullest pools', 'percentunit', {
        expr: `topk(20, max by (network, family, unit) (udn_clustermanager_network_pool_used{${NETWORK}} / (udn_clustermanager_network_pool_used{${NETWORK}} + udn_clustermanager_network_pool_free{${NETWORK}})))`,
        legend: '{{network}} {{family}} {{unit}}',
      }),
      graph('Pods that wait, by cause', 'none', {
        expr: 'max by (cause) (udn_clustermanager_pods_waiting)',
        legend: '{{cause}}',
      }),
      graph('Connections of networks near their limit', 'percentunit', {
        expr: `udn_agent_network_connections_ratio{${NODE}, ${NETWORK}}`,
        legend: '{{network}} on {{node}}',
      }),
      graph('Objects of networks', 'none', {
        expr: `topk(20, sum by (network) (udn_agent_network_objects{${NODE}, ${NETWORK}}))`,
        legend: '{{network}}',
      }),
      graph('Ids of deleted networks that nodes have not let go', 'none', {
        expr: 'max(udn_clustermanager_reserved_network_ids)',
        legend: 'ids',
      }),
    ],
  },
  {
    title: 'CNI',
    panels: [
      graph('Calls', 'ops', {
        expr: `sum by (command, failed) (rate(udn_agent_cni_phase_duration_seconds_count{${NODE}, phase="total"}[5m]))`,
        legend: '{{command}} failed={{failed}}',
      }),
      graph('Share of ADD calls that fail, by node', 'percentunit', {
        expr: `sum by (node) (rate(udn_agent_cni_phase_duration_seconds_count{${NODE}, command="ADD", phase="total", failed="true"}[5m])) / sum by (node) (rate(udn_agent_cni_phase_duration_seconds_count{${NODE}, command="ADD", phase="total"}[5m]))`,
        legend: '{{node}}',
      }),
      graph(
        'Time of ADD',
        's',
        ...[0.5, 0.99].map((q) => ({
          expr: quantile(q, 'udn_agent_cni_phase_duration_seconds', 'command', 'command="ADD", phase="total"'),
          legend: `${q * 100} %`,
        })),
      ),
      graph('Time of ADD by phase, 99 %', 's', {
        expr: quantile(0.99, 'udn_agent_cni_phase_duration_seconds', 'phase', 'command="ADD"'),
        legend: '{{phase}}',
      }),
      graph('Calls that fail, by cause', 'ops', {
        expr: `sum by (command, cause) (rate(udn_agent_cni_failures_total{${NODE}}[5m]))`,
        legend: '{{command}} {{cause}}',
      }),
    ],
  },
  {
    title: 'Programming',
    panels: [
      graph('Objects that are not as desired', 'none', {
        expr: `sum by (backend, state) (udn_agent_unfinished_objects{${NODE}})`,
        legend: '{{backend}} {{state}}',
      }),
      graph('Oldest work', 's', {
        expr: `max by (backend) (udn_agent_queue_oldest_seconds{${NODE}})`,
        legend: '{{backend}}',
      }),
      graph('Objects written', 'ops', {
        expr: `sum by (backend) (rate(udn_agent_reconcile_written_total{${NODE}}[5m]))`,
        legend: '{{backend}}',
      }),
      graph(
        'Failures, retries and repairs',
        'ops',
        ...['reconcile_failures', 'retries', 'drift_repairs'].map((name) => ({
          expr: `sum by (backend) (rate(udn_agent_${name}_total{${NODE}}[5m]))`,
          legend: `${name.replaceAll('_', ' ')} {{backend}}`,
        })),
      ),
      graph('Time of comparing, 99 %', 's', {
        expr: quantile(0.99, 'udn_agent_reconcile_duration_seconds', 'backend, full'),
        legend: '{{backend}} full={{full}}',
      }),
      graph('Desired objects', 'none', {
        expr: `sum by (backend) (udn_agent_wanted_objects{${NODE}})`,
        legend: '{{backend}}',
      }),
    ],
  },
  {
    title: 'Databases of the nodes',
    panels: [
      graph('Nodes without a connection', 'none', {
        expr: `count by (database) (udn_agent_ovsdb_connected{${NODE}} == 0)`,
        legend: '{{database}}',
      }),
      graph('Operations', 'ops', {
        expr: `sum by (database) (rate(udn_agent_ovsdb_operations_total{${NODE}}[5m]))`,
        legend: '{{database}}',
      }),
      graph('Time of transactions, 99 %', 's', {
        expr: quantile(0.99, 'udn_agent_ovsdb_transaction_duration_seconds', 'database'),
        legend: '{{database}}',
      }),
      graph('Transactions that fail', 'ops', {
        expr: `sum by (database) (rate(udn_agent_ovsdb_failures_total{${NODE}}[5m]))`,
        legend: '{{database}}',
      }),
    ],
  },
  {
    title: 'Cluster manager',
    panels: [
      graph('Reconciliations', 'ops', {
        expr: 'sum by (controller) (rate(udn_clustermanager_reconcile_seconds_count[5m]))',
        legend: '{{controller}}',
      }),
      graph('Reconciliations that fail', 'ops', {
        expr: 'sum by (controller) (rate(udn_clustermanager_reconcile_failures_total[5m]))',
        legend: '{{controller}}',
      }),
      graph('Writes', 'ops', {
        expr: 'sum by (resource, outcome) (rate(udn_clustermanager_writes_total[5m]))',
        legend: '{{resource}} {{outcome}}',
      }),
      graph('Time since the API server was heard of', 's', {
        expr: 'max(udn_clustermanager_silence_seconds)',
        legend: 'leader',
      }),
    ],
  },
  {
    title: 'Processes',
    panels: [
      graph('Resident memory', 'bytes', {
        expr: 'process_resident_memory_bytes{job=~"udn-agent|udn-cluster-manager"}',
        legend: '{{job}} {{node}}',
      }),
      graph('Processor', 'percentunit', {
        expr: 'rate(process_cpu_seconds_total{job=~"udn-agent|udn-cluster-manager"}[5m])',
        legend: '{{job}} {{node}}',
      }),
    ],
  },
];

/** Path from the repository's root → content. */
export const dashboardFiles = (): Record<string, string> => ({
  'daemonset/monitoring/dashboard.json': `${JSON.stringify(dashboard(), null, 2)}\n`,
});

/** Every expression, and those of the variables. */
export const dashboardExpressions = (): string[] => [
  ...ROWS.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
  ...VARIABLES.map(({ metric }) => metric),
];

const VARIABLES = [
  { name: 'node', metric: 'udn_agent_build_info' },
  { name: 'network', metric: 'udn_clustermanager_network_ready' },
] as const;

const SOURCE = { type: 'prometheus', uid: '$datasource' };

const dashboard = () => ({
  uid: 'ovn-udn',
  title: 'ovn-udn',
  description: 'Made by make gen from tools/dashboard.ts.',
  tags: ['ovn-udn'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus' },
      ...VARIABLES.map(({ name, metric }) => ({
        ...{ name, type: 'query', datasource: SOURCE, includeAll: true, multi: true, allValue: '.*', refresh: 2 },
        query: { query: `label_values(${metric}, ${name})`, refId: name },
        current: { text: 'All', value: '$__all' },
      })),
    ],
  },
  panels: placed(),
});

const HEIGHT = 8;
const STAT_HEIGHT = 4;
const COLUMNS = 24;

/** From left to right and from top to bottom, as words in lines. */
const placed = (): object[] => {
  const panels: object[] = [];
  let y = 0;
  for (const row of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: at(0, y, COLUMNS, 1),
    });
    y += 1;
    let [x, height] = [0, 0];
    for (const panel of row.panels) {
      if (x + panel.width > COLUMNS) {
        y += height;
        [x, height] = [0, 0];
      }
      const own = panel.type === 'stat' ? STAT_HEIGHT : HEIGHT;
      panels.push({ id: panels.length + 1, gridPos: at(x, y, panel.width, own), ...drawn(panel) });
      x += panel.width;
      height = Math.max(height, own);
    }
    y += height;
  }
  return panels;
};

const at = (x: number, y: number, w: number, h: number) => ({ x, y, w, h });

const drawn = (panel: Panel): object => ({
  type: panel.type,
  title: panel.title,
  datasource: SOURCE,
  fieldConfig: { defaults: { unit: panel.unit ?? 'none', min: 0, ...thresholds(panel) }, overrides: [] },
  targets: panel.targets.map(({ expr, legend }, i) => ({
    ...{ refId: String.fromCharCode(65 + i), datasource: SOURCE, expr, legendFormat: legend },
    ...(panel.type === 'table' && { instant: true, format: 'table' }),
  })),
  ...(panel.type === 'stat' && { options: { colorMode: 'background', reduceOptions: { calcs: ['lastNotNull'] } } }),
});

const thresholds = ({ goodFrom, badFrom }: Panel): object => {
  if (goodFrom === undefined && badFrom === undefined) return {};
  const [below, above] = goodFrom === undefined ? ['green', 'red'] : ['red', 'green'];
  const steps = [
    { color: below, value: null },
    { color: above, value: goodFrom ?? badFrom },
  ];
  return { thresholds: { mode: 'absolute', steps } };
};
