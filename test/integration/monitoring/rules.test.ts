/** The alerts and the expressions of the dashboard are what Prometheus understands, and alerts come and go when they should. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { dashboardExpressions } from '../../../tools/dashboard.ts';
import { createPromtool, type Promtool } from './promtool.ts';

const RULES = 'daemonset/monitoring/rules.yaml';
const CASES = 'test/integration/monitoring/alerts.yaml';

const rulesSchema = z.object({
  spec: z.object({
    groups: z.array(z.object({ name: z.string(), rules: z.array(z.looseObject({ alert: z.string() })) })),
  }),
});
const casesSchema = z.looseObject({
  tests: z.array(
    z.looseObject({
      alert_rule_test: z.array(z.looseObject({ alertname: z.string(), exp_alerts: z.array(z.unknown()).default([]) })),
    }),
  ),
});

let promtool: Promtool;
let folder: string;
beforeAll(async () => {
  promtool = await createPromtool();
  folder = await mkdtemp(join(tmpdir(), 'rules-test-'));
  const { spec } = rulesSchema.parse(parse(await readFile(RULES, 'utf8')));
  await writeFile(join(folder, 'rules.yaml'), stringify(spec));
  await copyFile(CASES, join(folder, 'alerts.yaml'));
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const check = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await promtool(...args);
  return code === 0 ? '' : stdout + stderr;
};

it('promtool knows what to make of the rules', async () => {
  expect(await check('check', 'rules', '--lint=all', '--lint-fatal', join(folder, 'rules.yaml'))).toBe('');
});

it('each expression of the dashboard is one', async () => {
  const variables = (expr: string) => expr.replaceAll('$node', '.*').replaceAll('$network', '.*');
  const rules = dashboardExpressions().map((expr, i) => ({ record: `panel:${i}`, expr: variables(expr) }));
  const file = join(folder, 'panels.yaml');
  await writeFile(file, stringify({ groups: [{ name: 'panels', rules }] }));
  expect(await check('check', 'rules', file)).toBe('');
  await writeFile(file, stringify({ groups: [{ name: 'panels', rules: [{ record: 'panel:0', expr: 'sum(x' }] }] }));
  expect(await check('check', 'rules', file)).toContain('parse error');
});

it('alerts come and go when they should', async () => {
  expect(await check('test', 'rules', join(folder, 'alerts.yaml'))).toBe('');
});

it('each alert has a case in which it comes, and one in which it does not', async () => {
  const { spec } = rulesSchema.parse(parse(await readFile(RULES, 'utf8')));
  const { tests } = casesSchema.parse(parse(await readFile(CASES, 'utf8')));
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
  const alerts = spec.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const named = (comes: boolean) =>
    new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === comes).map(({ alertname }) => alertname));
  expect([...named(true)].toSorted()).toEqual(alerts.toSorted());
  expect([...named(false)].toSorted()).toEqual(alerts.toSorted());
});
