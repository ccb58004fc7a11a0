/**
 * `make conformance`: Kubernetes' own specs of networking against a sandbox with real kubelets, on the default network and in tenants. It
 * writes docs/conformance.md, and fails unless the specs that fail are those of known-failures.yaml.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../base/error-message.ts';
import { readKeptRun, readKnownFailures, readParts } from './kept-run.ts';
import { mergeReports } from './merged-report.ts';
import { withResults } from './page.ts';
import { type PlannedSuite, planRuns } from './plan.ts';
import { ensureConformancePrograms, readRecipe } from './programs.ts';
import { type RunSettings, runSuites } from './run-suites.ts';
import { onAnyKernel, SUITE_NAMES, SUITES, type Suite } from './suites.ts';

const OPTIONS = {
  only: { type: 'string', multiple: true },
  focus: { type: 'string' },
  again: { type: 'boolean', default: false },
  processes: { type: 'string', default: '4' },
  limit: { type: 'string', default: '3h' },
  'any-kernel': { type: 'boolean', default: false },
  page: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const HELP = [
  'make conformance [ONLY=SUITE] [AGAIN=1] [FOCUS=REGEXP] [PROCESSES=4] [LIMIT=3h] [ANY_KERNEL=1] [PAGE=1]',
  `SUITE: ${SUITES.map(({ name }) => name).join(', ')}. FOCUS selects specs, whose results are only shown.`,
  'AGAIN repeats specs that failed and are not listed, were interrupted or were not started.',
  "ANY_KERNEL runs tenants on this machine's kernel, even if that lacks VRFs; names are then resolved outside of the cluster.",
  'PAGE writes docs/conformance.md of the reports in .conformance, and runs nothing.',
].join('\n');

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = join(ROOT, 'docs', 'conformance.md');
const progress = (text: string): void => console.error(text);

/** @returns the exit status */
const main = async (): Promise<number> => {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help === true) return show(HELP);
  if (values.page === true) return await writePage();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  }
  const { focus, again, limit, processes } = values;
  const suites = selected(values.only ?? []).map((suite) => (values['any-kernel'] ? onAnyKernel(suite) : suite));
  const known = await readKnownFailures();
  const kept = await keptReports();
  const runs = planRuns({ suites, focus, again, known, reportOf: ({ name }) => kept.get(name) });
  // Whatever fails once it is stopped, fails because of that.
  const complaints = await runAll(runs, { processes: Number(processes), limit, known, signal: stop.signal }).catch(
    (error: unknown) => {
      throw stop.signal.aborted ? stop.signal.reason : error;
    },
  );
  if (focus === undefined) {
    // The page that is there may have results of suites that were not run here.
    if (SUITES.every(({ name }) => kept.has(name) || suites.some((suite) => suite.name === name))) await writePage();
    else progress('not all suites have reports: PAGE=1 writes docs/conformance.md of those that have');
  }
  for (const complaint of complaints) progress(complaint);
  return complaints.length === 0 ? 0 : 1;
};

const show = (text: string): number => {
  console.log(text);
  return 0;
};

/** @throws Error for the name of no suite */
const selected = (names: readonly string[]): readonly Suite[] => {
  const unknown = names.find((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown !== undefined) throw new Error(`there is no suite "${unknown}"\n${HELP}`);
  return SUITES.filter(({ name }) => names.length === 0 || names.includes(name));
};

const keptReports = async () => {
  const parts = await Promise.all(SUITE_NAMES.map(async (name) => [name, await readParts(name)] as const));
  const kept = parts.filter(([, list]) => list.length > 0);
  return new Map(kept.map(([name, list]) => [name, mergeReports(list.map(({ report }) => report))]));
};

const writePage = async (): Promise<number> => {
  await writeFile(PAGE, withResults(await readFile(PAGE, 'utf8'), await readKeptRun()));
  progress('wrote docs/conformance.md');
  return 0;
};

/** @returns what makes the run fail */
const runAll = async (
  runs: readonly (readonly PlannedSuite[])[],
  settings: Pick<RunSettings, 'processes' | 'limit' | 'known' | 'signal'>,
): Promise<string[]> => {
  if (runs.length === 0) progress('no spec is open');
  if (runs.length === 0) return [];
  const programs = await ensureConformancePrograms({ root: ROOT, progress, signal: settings.signal });
  const { version } = await readRecipe(ROOT);
  const complaints: string[] = [];
  for (const planned of runs) {
    settings.signal.throwIfAborted();
    complaints.push(...(await runSuites(planned, { ...settings, root: ROOT, programs, version, progress })));
  }
  return complaints;
};

// What is given up would keep the process until it times out.
process.exit(
  await main().catch((error: unknown) => {
    console.error(messageOf(error));
    return 1;
  }),
);
