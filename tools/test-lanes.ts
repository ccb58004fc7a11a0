/**
 * `make test`: the test lanes of docs/testing.md in two rows, as they share the machine. Every lane runs, also after one that
 * failed. Names of lanes as arguments run only those.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findArtifacts } from '../sandbox/artifacts.ts';
import { ensureChromium } from '../sandbox/browser/chromium-tree.ts';
import { ensureCoredns } from '../sandbox/coredns/ensure.ts';
import { ensureGuestImages } from '../sandbox/guest/images.ts';
import { ensureHelm } from '../sandbox/install/helm.ts';
import { ensureVersionBefore, missingVersionBefore } from '../sandbox/install/version-before.ts';
import { ensureKonnectivity } from '../sandbox/konnectivity/ensure.ts';
import { ensureKubernetes } from '../sandbox/kubernetes/build.ts';
import { CONTROL_PLANE_PROGRAMS, REAL_KUBELET_PROGRAMS } from '../sandbox/kubernetes/recipe.ts';
import { ensureRuntimeTree } from '../sandbox/real-kubelet/tree.ts';
import { ensureTree } from '../sandbox/tree/tree.ts';
import { seedOf } from './hostile-seed.ts';
import { ensureBaseLayer } from './images/base-layer.ts';
import { imageSpecs } from './images/image-spec.ts';
import {
  countsOfLane,
  formatCounts,
  LANES,
  type Lane,
  longestOfLane,
  REPORT_FOLDER,
  ROWS,
  reportFile,
} from './reports.ts';

interface Outcome {
  readonly lane: Lane;
  readonly ok: boolean;
  readonly seconds: number;
}

const main = async (requested: readonly string[]): Promise<void> => {
  const unknown = requested.find((name) => !LANES.some((lane) => lane === name));
  if (unknown !== undefined) throw new Error(`"${unknown}" is no test lane: ${LANES.join(', ')}`);
  const lanes = LANES.filter((lane) => requested.length === 0 || requested.includes(lane));
  mkdirSync(REPORT_FOLDER, { recursive: true });
  for (const lane of lanes) rmSync(reportFile(lane), { force: true });
  // One for all lanes, that one number repeats all of their samples.
  process.env['UDN_HOSTILE_SEED'] ||= seedOf(await agentTree());
  console.log(`samples of test/oracles/hostile: UDN_HOSTILE_SEED=${process.env['UDN_HOSTILE_SEED']}`);
  // Here and not in the first test that needs it: it takes longer than a test may.
  const progress = (message: string): void => console.log(message);
  await ensureTree(progress);
  if (lanes.some((lane) => lane === 'integration' || lane === 'e2e')) await ensureHelm();
  if (lanes.includes('integration')) {
    await ensureKubernetes(CONTROL_PLANE_PROGRAMS, { root: process.cwd(), progress });
    // The tests of the page say again that they are skipped.
    await ensureChromium(progress).catch((error: unknown) => console.error('no browser:', error));
  }
  if (lanes.some((lane) => lane.startsWith('e2e'))) {
    await ensureKubernetes([...CONTROL_PLANE_PROGRAMS, ...REAL_KUBELET_PROGRAMS], { root: process.cwd(), progress });
    await ensureCoredns({ root: process.cwd(), progress });
    if (process.env['UDN_SCENARIOS'] === 'all') {
      await ensureKonnectivity({ root: process.cwd(), progress });
      // Without its commit the tests of upgrades say why they are skipped; what keeps it from being built fails them alone.
      if (missingVersionBefore() === undefined) {
        await ensureVersionBefore(progress).catch((error: unknown) => console.error('no version before:', error));
      }
    }
    await ensureRuntimeTree(progress);
    for (const { packages } of imageSpecs()) await ensureBaseLayer(packages, { epoch: 0, fresh: false, progress });
    // The client of a guest is notified again.
    await ensureGuestImages(findArtifacts(), progress).catch((error: unknown) => console.error('no guest:', error));
  }
  const rows = ROWS.map((row) => row.filter((lane) => lanes.includes(lane)));
  const outcomes = (await Promise.all(rows.map(runInTurn))).flat();
  console.log('');
  for (const { lane } of outcomes) console.log(`longest of ${lane}: ${longest(lane)}`);
  for (const outcome of outcomes) console.log(summary(outcome));
  if (outcomes.some(({ ok }) => !ok)) process.exitCode = 1;
};

/** As git(1) names what is committed of the agent; undefined outside of a repository. */
const agentTree = async (): Promise<string | undefined> => {
  try {
    return (await promisify(execFile)('git', ['rev-parse', 'HEAD:agent'])).stdout.trim();
  } catch {
    return undefined;
  }
};

const runInTurn = async (lanes: readonly Lane[]): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const lane of lanes) outcomes.push(await run(lane));
  return outcomes;
};

const run = async (lane: Lane): Promise<Outcome> => {
  const start = performance.now();
  const status = await vitest(lane);
  return { lane, ok: status === 0, seconds: (performance.now() - start) / 1000 };
};

const vitest = async (lane: Lane): Promise<number> => {
  const args = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile(lane)}`];
  const child = spawn(process.execPath, ['--run', `test:${lane}`, '--', ...args], {
    stdio: ROWS[1].some((beside) => beside === lane) ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
  });
  // Several lanes in one output: of these every line says so.
  for (const output of [child.stdout, child.stderr]) {
    if (output) createInterface(output).on('line', (line) => console.log(`${lane} |${line}`));
  }
  return await new Promise((resolve) => {
    // It has no report then, which counts as a failure; the other lanes go on.
    child.once('error', (error) => {
      console.error(`${lane}: ${error.message}`);
      resolve(1);
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
};

/** All of them would be more than one reads. */
const LONGEST = 12;

const longest = (lane: Lane): string => longestOfLane(read(reportFile(lane)), LONGEST).join(', ');

const summary = ({ lane, ok, seconds }: Outcome): string =>
  `${ok ? 'ok    ' : 'FAILED'} ${lane}: ${formatCounts(countsOfLane(read(reportFile(lane))))} (${seconds.toFixed(0)} s)`;

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

await main(process.argv.slice(2));
