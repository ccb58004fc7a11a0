/** Runs specs on the host outside of the cluster: everything of the run ends with that machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { connectControl } from '../../sandbox/supervisor/control-client.ts';
import { KUBECONFIG, NODES, PROGRAMS, WORK_FOLDER } from './cluster.ts';
import { parseReport, type SuiteReport } from './ginkgo-report.ts';

export interface SuiteRun {
  /** Of the sandbox. */
  readonly cluster: string;
  readonly focus: string;
  readonly skip: string;
  /** How many specs at once. Those that must be alone are. */
  readonly processes: number;
  /** For all specs, as Go writes durations: what is not over then has failed, and the others are not run. */
  readonly limit: string;
  /** For the log and the reports, on this machine. */
  readonly folder: string;
  /** Lines of ginkgo about specs that have ended. */
  readonly progress: (line: string) => void;
}

/** @throws Error when there is no report in the end */
export const runSuite = async (run: SuiteRun): Promise<SuiteReport> => {
  await mkdir(run.folder, { recursive: true });
  await ginkgo(run);
  await Promise.all(REPORTS.map((name) => fetchFile(run, name)));
  return parseReport(await readFile(join(run.folder, 'report.json'), 'utf8'));
};

export const REPORTS = ['report.json', 'junit.xml'] as const;
const [JSON_REPORT, JUNIT_REPORT] = REPORTS;

/** A spec that fails is tried once more: specs give the API server and pods times that a busy machine can't keep. */
const ginkgoArguments = ({ focus, skip, processes, limit }: SuiteRun): string[] => [
  ...[`${PROGRAMS}/ginkgo`, `--procs=${processes}`, '--no-color', '--flake-attempts=2', `--timeout=${limit}`],
  ...[`--json-report=${JSON_REPORT}`, `--junit-report=${JUNIT_REPORT}`, `--output-dir=${WORK_FOLDER}`],
  ...[`--focus=${focus}`, `--skip=${skip}`, `${PROGRAMS}/e2e.test`, '--'],
  ...['--provider=skeleton', `--num-nodes=${NODES}`, `--kubeconfig=${KUBECONFIG}`],
  `--kubectl-path=${PROGRAMS}/kubectl`,
];

/** Its status says whether a spec failed, and so does the report. */
const ginkgo = async (run: SuiteRun): Promise<void> => {
  const clean = ['sh', '-c', `cd ${WORK_FOLDER} && rm -f ${REPORTS.join(' ')} && exec "$@"`, 'sh'];
  const child = await spawnOutside(run, [...clean, ...ginkgoArguments(run)]);
  const log = createWriteStream(join(run.folder, 'ginkgo.log'));
  child.stderr.pipe(log, { end: false });
  for await (const line of createInterface(child.stdout)) {
    log.write(`${line}\n`);
    if (INTERESTING.test(line)) run.progress(line);
  }
  log.end();
};

const INTERESTING = /^(?:• \[FAILED\]|\s*\[FAILED\] \[|Will run|Ran \d+)/;

const fetchFile = async (run: SuiteRun, name: string): Promise<void> => {
  const child = await spawnOutside(run, ['cat', `${WORK_FOLDER}/${name}`]);
  const [file, draft] = [join(run.folder, name), join(run.folder, `${name}.draft`)];
  const ended = once(child, 'close');
  await pipeline(child.stdout, createWriteStream(draft));
  const [status] = (await ended) as [number | null];
  if (status !== 0) throw new Error(`ginkgo left no ${name}: see ${join(run.folder, 'ginkgo.log')}`);
  // The report of an earlier run stays until there is another one.
  await rename(draft, file);
};

const spawnOutside = async ({ cluster }: SuiteRun, argv: readonly string[]) => {
  const { file, args } = await connectControl(cluster).enter({ kind: 'outside' }, argv);
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
};
