/** The alerts and the dashboard name only metrics and labels that the programs have: both come from the registries. */
import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { dashboardExpressions } from '../../../tools/dashboard.ts';
import { agentMetrics, managerMetrics, ofRegistry } from '../../../tools/metrics-docs.ts';
import { namesIn } from './promql-names.ts';

/** Those that Prometheus adds, and the PodMonitor. */
const SCRAPED = ['job', 'instance', 'node', 'pod', 'namespace'];

/** Name of a series → its labels. */
const knownSeries = (): Map<string, readonly string[]> => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const series = new Map<string, readonly string[]>([['up', []]]);
  for (const { name, type, labels } of [...agentMetrics(), ...managerMetrics(), ...ofRegistry(registry)]) {
    if (type !== 'histogram') series.set(name, labels);
    else {
      for (const suffix of ['_sum', '_count']) series.set(`${name}${suffix}`, labels);
      series.set(`${name}_bucket`, [...labels, 'le']);
    }
  }
  return series;
};
const SERIES = knownSeries();

const problemsOf = (expression: string): string[] => {
  const { metrics, matched, grouped } = namesIn(expression);
  const labels = metrics.flatMap((metric) => SERIES.get(metric) ?? []);
  return [
    ...metrics.filter((metric) => !SERIES.has(metric)).map((metric) => `no metric ${metric}`),
    ...matched
      .filter(({ metric, label }) => ![...SCRAPED, ...(SERIES.get(metric) ?? [])].includes(label))
      .map(({ metric, label }) => `${metric} has no label ${label}`),
    ...grouped.filter((label) => ![...SCRAPED, ...labels].includes(label)).map((label) => `no label ${label}`),
  ];
};

const ruleSchema = z.object({
  alert: z.string(),
  expr: z.string(),
  labels: z.object({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.object({ summary: z.string(), description: z.string() }),
});
const rulesSchema = z.object({ spec: z.object({ groups: z.array(z.object({ rules: z.array(ruleSchema) })) }) });
const RULES = rulesSchema
  .parse(parse(readFileSync('daemonset/monitoring/rules.yaml', 'utf8')))
  .spec.groups.flatMap(({ rules }) => rules);

describe('alerts', () => {
  it.each(RULES)('$alert names what there is', ({ expr }) => {
    expect(namesIn(expr).metrics).not.toEqual([]);
    expect(problemsOf(expr)).toEqual([]);
  });

  it.each(RULES)('$alert puts only labels into its texts that its expression leaves', ({ expr, annotations }) => {
    const { metrics, grouped } = namesIn(expr);
    const isAggregated = /^\s*(sum|max|min|count|histogram_quantile|absent)\b/.test(expr);
    const left = isAggregated ? grouped : [...SCRAPED, ...metrics.flatMap((metric) => SERIES.get(metric) ?? [])];
    const used = [
      ...Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, label]) => label);
    expect(left).toEqual(expect.arrayContaining(used));
  });

  it('each has a name of its own', () => {
    const names = RULES.map(({ alert }) => alert);
    expect(names).toEqual([...new Set(names)]);
  });
});

it.each(dashboardExpressions())('the dashboard names what there is: %s', (expression) => {
  expect(namesIn(expression).metrics).not.toEqual([]);
  expect(problemsOf(expression)).toEqual([]);
});

describe('an expression', () => {
  it.each([
    ['udn_agent_nothing > 0', 'no metric udn_agent_nothing'],
    ['sum by (nod) (udn_clustermanager_leader)', 'no label nod'],
    ['rate(udn_agent_ovsdb_failures_total{databse="x"}[5m])', 'udn_agent_ovsdb_failures_total has no label databse'],
    ['udn_agent_render_duration_seconds > 1', 'no metric udn_agent_render_duration_seconds'],
    ['a{x="y{z}"} or b:c offset 5m', 'no metric a'],
  ])('%s is found out', (expression, problem) => {
    expect(problemsOf(expression)).toContain(problem);
  });

  it('its texts, functions, numbers and ranges are no metrics', () => {
    const expression =
      'histogram_quantile(0.99, sum by (le) (rate(up{job="a b", node=~"$node"}[5m]))) > 1e3 and on (job) up';
    expect(namesIn(expression)).toEqual({
      metrics: ['up'],
      matched: [
        { metric: 'up', label: 'job' },
        { metric: 'up', label: 'node' },
      ],
      grouped: ['le', 'job'],
    });
  });
});
