/** Helm, built once from Go modules into the user's cache (docs/adr: Go checks its sums), and run on this machine. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findGo } from '../../../sandbox/kubernetes/go.ts';
import { recipeOf } from '../../../sandbox/kubernetes/recipe.ts';
import { ensureInCache } from '../../../sandbox/tree/tree.ts';
import { attemptProgram, type ProgramResult, printed } from '../../conformance/kube/program.ts';

const VERSION = 'v3.22.0';
const PACKAGE = `helm.sh/helm/v3/cmd/helm@${VERSION}`;
const MODULE = 'sandbox/kubernetes';
const run = promisify(execFile);

export const CHART = 'charts/ovn-udn';

export interface Helm {
  /** What it printed. Throws with the error output when it fails. */
  run(...args: string[]): Promise<string>;
  /** Also when it fails. */
  attempt(...args: string[]): Promise<ProgramResult>;
  close(): Promise<void>;
}

/** @param kubeconfig text; absent: nothing is asked of a cluster */
export const createHelm = async (kubeconfig = ''): Promise<Helm> => {
  const file = join(await ensureHelm(), 'helm');
  const folder = await mkdtemp(join(tmpdir(), 'helm-test-'));
  const config = join(folder, 'config');
  await writeFile(config, kubeconfig, { mode: 0o600 });
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: config };
  const attempt = (...args: string[]): Promise<ProgramResult> => attemptProgram(file, args, { env, timeoutMs: 60_000 });
  return {
    attempt,
    run: async (...args) => printed('helm', await attempt(...args)),
    close: () => rm(folder, { recursive: true, force: true }),
  };
};

/** Minutes, once. */
const ensureHelm = (): Promise<string> =>
  ensureInCache(`helm-${VERSION}-${process.arch}`, async (draft) => {
    const [goMod = '', goSum = ''] = await Promise.all(
      ['go.mod', 'go.sum'].map((name) => readFile(join(MODULE, name), 'utf8')),
    );
    const recipe = recipeOf({ goMod, goSum, architecture: process.arch });
    const go = await findGo(recipe, { env: process.env, progress: () => {} });
    const env = { ...go.env, GOBIN: draft };
    await run(go.file, ['install', '-ldflags', '-s -w', PACKAGE], { env, cwd: '/', maxBuffer: 64 << 20 });
  });
