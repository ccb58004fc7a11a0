/** Runs specs on the host outside of the cluster: everything of the run ends with that machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { connectControl } from '../../sandbox/supervisor/control-client.ts';
import { KUBECONFIG, NODES, PROGRAMS, WORK_FOLDER } from './cluster.ts';
import { parseReport, type SuiteReport } from './ginkgo-report.ts';
import { reportOfGoTest } from './go-test-report.ts';
import type { SuiteProgram } from './suites.ts';

export interface SuiteRun {
  /** Of the sandbox. */
  readonly cluster: string;
  readonly program: SuiteProgram;
  /** Specs see the addresses of pods on their primary network. */
  readonly isTenants: boolean;
  readonly focus: string;
  readonly skip: string;
  /** How many specs at once. Those that must be alone are. */
  readonly processes: number;
  /** For all specs, as Go writes durations: what is not over then has failed, and the others are not run. */
  readonly limit: string;
  /** For the log and the reports, on this machine. */
  readonly folder: string;
  /** Lines about specs that have ended. */
  readonly progress: (line: string) => void;
}

/** @throws Error when there is no report in the end */
export const runSuite = async (run: SuiteRun): Promise<SuiteReport> => {
  await mkdir(run.folder, { recursive: true });
  await PLAYERS[run.program.kind](run);
  return parseReport(await readFile(join(run.folder, JSON_REPORT), 'utf8'));
};

export const REPORTS = ['report.json', 'junit.xml'] as const;
const [JSON_REPORT, JUNIT_REPORT] = REPORTS;

/** Each leaves a report in the run's folder. A status says no more than the report. */
const PLAYERS: Readonly<Record<SuiteProgram['kind'], (run: SuiteRun) => Promise<void>>> = {
  kubernetes: async (run) => {
    await play(run, 'ginkgo.log', ginkgoArguments(run));
    await Promise.all(REPORTS.map((name) => fetchFile(run, name)));
  },
  'admin-policies': (run) => playGoTest(run),
  'cluster-policies': (run) => playGoTest(run),
  cyclonus: async (run) => {
    await play(run, 'cyclonus.log', cyclonusArguments(run));
    await fetchFile(run, JSON_REPORT);
  },
};

/** A spec that fails is tried once more: specs give the API server and pods times that a busy machine can't keep. */
const ginkgoArguments = ({ focus, skip, processes, limit, isTenants }: SuiteRun): string[] => [
  ...[`${PROGRAMS}/ginkgo`, `--procs=${processes}`, '--no-color', '--flake-attempts=2', `--timeout=${limit}`],
  ...[`--json-report=${JSON_REPORT}`, `--junit-report=${JUNIT_REPORT}`, `--output-dir=${WORK_FOLDER}`],
  ...[`--focus=${focus}`, `--skip=${skip}`, `${PROGRAMS}/e2e.test`, '--'],
  ...['--provider=skeleton', `--num-nodes=${NODES}`, `--kubeconfig=${KUBECONFIG}`],
  `--kubectl-path=${PROGRAMS}/kubectl`,
  ...(isTenants ? ['--primary-addresses'] : []),
];

const cyclonusArguments = ({ program, focus, limit }: SuiteRun): string[] => [
  ...[`${PROGRAMS}/cyclonus`, `-focus=${focus}`, `-limit=${limit}`, `-report=${JSON_REPORT}`],
  ...(program.kind === 'cyclonus' ? [`-family=${program.family}`] : []),
];

/** The flag lets it say of each test that it ended when it does, and not at the end of all. */
const playGoTest = async (run: SuiteRun): Promise<void> => {
  const log = 'go-test.log';
  const program = `${PROGRAMS}/${run.program.kind}`;
  await play(run, log, [program, '-test.v=test2json', `-test.timeout=${run.limit}`, `-focus=${run.focus}`]);
  const report = reportOfGoTest(await readFile(join(run.folder, log), 'utf8'));
  await writeFile(join(run.folder, JSON_REPORT), report);
};

const play = async (run: SuiteRun, logName: string, argv: readonly string[]): Promise<void> => {
  const clean = ['sh', '-c', `cd ${WORK_FOLDER} && rm -f ${REPORTS.join(' ')} && KUBECONFIG=${KUBECONFIG} exec "$@"`];
  const child = await spawnOutside(run, [...clean, 'sh', ...argv]);
  const ended = once(child, 'close');
  const log = createWriteStream(join(run.folder, logName));
  child.stderr.pipe(log, { end: false });
  for await (const line of createInterface(child.stdout)) {
    log.write(`${line}\n`);
    if (INTERESTING.test(line)) run.progress(line);
  }
  await ended;
  log.end();
  await once(log, 'finish');
};

const INTERESTING = /^(?:• \[FAILED\]|\s*\[FAILED\] \[|Will run|Ran \d+| *--- FAIL|failed cyclonus)/;

const fetchFile = async (run: SuiteRun, name: string): Promise<void> => {
  const child = await spawnOutside(run, ['cat', `${WORK_FOLDER}/${name}`]);
  const [file, draft] = [join(run.folder, name), join(run.folder, `${name}.draft`)];
  const ended = once(child, 'close');
  await pipeline(child.stdout, createWriteStream(draft));
  const [status] = (await ended) as [number | null];
  if (status !== 0) throw new Error(`the suite left no ${name}: see its log in ${run.folder}`);
  // The report of an earlier run stays until there is another one.
  await rename(draft, file);
};

const spawnOutside = async ({ cluster }: SuiteRun, argv: readonly string[]) => {
  const { file, args } = await connectControl(cluster).enter({ kind: 'outside' }, argv);
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
};
