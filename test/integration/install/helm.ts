/** Helm, run on this machine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureHelm } from '../../../sandbox/install/helm.ts';
import { attemptProgram, type ProgramResult, printed } from '../../conformance/kube/program.ts';

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
  const file = await ensureHelm();
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
