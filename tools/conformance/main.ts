/**
 * `make conformance`: Kubernetes' own specs of networking against a sandbox with real kubelets, on the default network and in tenants. It
 * writes docs/conformance.md, and fails unless the specs that fail are those of known-failures.yaml.
 */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { onAbort } from '../../base/abort.ts';
import { messageOf } from '../../base/error-message.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import { NODES, startCluster } from './cluster.ts';
import type { SuiteReport } from './ginkgo-report.ts';
import { describeCommit, folderOf, keepFacts, readKeptRun, readKnownFailures } from './kept-run.ts';
import { type KnownFailure, unexpected } from './known-failures.ts';
import { countsOf, withResults } from './page.ts';
import { ensureConformancePrograms, readRecipe } from './programs.ts';
import { runSuite } from './run-suite.ts';
import { EXCLUSIONS, SUITES, type Suite } from './suites.ts';
import { enforceTenancy, runTenants } from './tenants.ts';

const OPTIONS = {
  only: { type: 'string', multiple: true },
  focus: { type: 'string' },
  processes: { type: 'string', default: '4' },
  limit: { type: 'string', default: '3h' },
  page: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const HELP = [
  'make conformance [ONLY=SUITE] [FOCUS=REGEXP] [PROCESSES=4] [LIMIT=3h] [PAGE=1]',
  `SUITE: ${SUITES.map(({ name }) => name).join(', ')}. FOCUS selects specs, whose results are only shown.`,
  'PAGE writes docs/conformance.md of the reports in .conformance, and runs nothing.',
].join('\n');

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = join(ROOT, 'docs', 'conformance.md');
const progress = (text: string): void => console.error(text);

interface Settings {
  readonly suites: readonly Suite[];
  readonly focus: string | undefined;
  readonly processes: number;
  readonly limit: string;
  readonly known: readonly KnownFailure[];
  readonly signal: AbortSignal;
}

/** @returns the exit status */
const main = async (): Promise<number> => {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help === true) return show(HELP);
  if (values.page === true) return await writePage();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  }
  const { focus, limit } = values;
  const settings = {
    suites: selected(values.only ?? []),
    processes: Number(values.processes),
    ...{ focus, limit, signal: stop.signal },
  };
  const known = await readKnownFailures();
  // Whatever fails once it is stopped, fails because of that.
  const complaints = await runAll({ ...settings, known }).catch((error: unknown) => {
    throw stop.signal.aborted ? stop.signal.reason : error;
  });
  if (settings.suites.length === SUITES.length && focus === undefined) await writePage();
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

const writePage = async (): Promise<number> => {
  await writeFile(PAGE, withResults(await readFile(PAGE, 'utf8'), await readKeptRun()));
  progress('wrote docs/conformance.md');
  return 0;
};

/** @returns what makes the run fail */
const runAll = async (settings: Settings): Promise<string[]> => {
  const { signal } = settings;
  const programs = await ensureConformancePrograms({ root: ROOT, progress });
  const { version } = await readRecipe(ROOT);
  const stop = new Promise<void>((resolve) => onAbort(signal, resolve));
  await using sandbox = await startCluster({ root: ROOT, programs, progress, onError: console.error, stop });
  // It ends what runs there, so that nothing waits for it.
  onAbort(signal, () => sandbox.down());
  const { datapath, folder } = await sandbox.status();
  const facts = { version, commit: describeCommit(), nodes: NODES, processors: availableParallelism() };
  if (settings.focus === undefined)
    await keepFacts({ ...facts, datapath: datapath === 'system' ? 'the kernel’s' : 'the userspace' });
  const complaints: string[] = [];
  try {
    for (const suite of settings.suites) complaints.push(...(await runOne(sandbox, suite, settings)));
  } finally {
    if (!signal.aborted) await cp(join(folder, 'log'), folderOf('log'), { recursive: true, force: true });
  }
  signal.throwIfAborted();
  return complaints;
};

const runOne = async (sandbox: Sandbox, suite: Suite, settings: Settings): Promise<string[]> => {
  const { focus = suite.focus, processes, limit, known } = settings;
  const isPart = settings.focus !== undefined;
  progress(`\n${suite.title}`);
  const skip = EXCLUSIONS.map(({ pattern }) => pattern).join('|');
  const folder = folderOf(isPart ? `${suite.name}-part` : suite.name);
  const report = await inTenants(sandbox, suite, settings.signal, () =>
    runSuite({ cluster: sandbox.name, focus, skip, processes, limit, folder, progress }),
  );
  progress(`${suite.title}: ${countsOf(report)}`);
  return unexpected(suite.name, report, isPart ? known.filter(({ spec }) => new RegExp(focus).test(spec)) : known);
};

const inTenants = async (
  sandbox: Sandbox,
  { network }: Suite,
  signal: AbortSignal,
  work: () => Promise<SuiteReport>,
): Promise<SuiteReport> => {
  if (network === undefined) return await work();
  const [client, objects] = await Promise.all([sandbox.client(), sandbox.objects()]);
  await enforceTenancy({ client, objects }, signal);
  const over = new AbortController();
  const tenants = runTenants({ client, objects, network, onError: console.error }, over.signal);
  try {
    return await work();
  } finally {
    over.abort();
    await tenants;
  }
};

// What is given up would keep the process until it times out.
process.exit(
  await main().catch((error: unknown) => {
    console.error(messageOf(error));
    return 1;
  }),
);
