import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createAgentMetrics, observeQueues } from '../agent/metrics/metrics.ts';
import { AGENT_METRICS, type GaugeName } from '../agent/metrics/registry.ts';
import { agentMetrics, managerMetrics, ofRegistry } from './metrics-docs.ts';

const ALL = [...agentMetrics(), ...managerMetrics()];
const RESERVED_LABELS = ['le', 'quantile', 'job', 'instance'];

/** https://prometheus.io/docs/practices/naming/, https://prometheus.io/docs/instrumenting/writing_exporters/ */
describe.each(ALL)('$name', ({ name, type, help, labels, use }) => {
  it('is named as Prometheus recommends', () => {
    expect(name).toMatch(/^udn_(agent|clustermanager)(_[a-z0-9]+)+$/);
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    expect(name).not.toMatch(/_(count|sum|bucket)$/);
    if (name.endsWith('_info')) expect(name).toMatch(/_build_info$/);
    if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
  });

  it('is described, and says what to do with it', () => {
    expect(help).toMatch(/^\S.*\.$/);
    expect(use).not.toBe('');
    for (const label of labels) {
      expect(label).toMatch(/^[a-z][a-z_]*$/);
      expect(RESERVED_LABELS).not.toContain(label);
    }
  });
});

it('what the agent registers is what is written down', () => {
  const registry = new Registry();
  const metrics = createAgentMetrics(registry);
  observeQueues(metrics, () => new Map());
  const gauges = Object.entries(AGENT_METRICS).flatMap(([name, { type }]) => (type === 'gauge' ? [name] : []));
  for (const name of gauges as GaugeName[]) {
    if (registry.getSingleMetric(name) === undefined) metrics.gauges(name, () => []);
  }
  const registered = ofRegistry(registry).filter(({ name }) => name.startsWith('udn_'));
  const written = agentMetrics().map(({ use: _, ...metric }) => metric);
  expect(registered.toSorted(byName)).toEqual(written.toSorted(byName));
});

it('names each metric once', () => {
  const names = ALL.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
