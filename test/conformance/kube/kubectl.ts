/** The kubectl of the sandbox's Debian tree, run on this machine. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureTree, treeCommand } from '../../../sandbox/tree/tree.ts';
import { attemptProgram, type ProgramResult, printed } from './program.ts';

export interface Kubectl {
  /** What it printed. Throws with the error output when it fails. */
  run(...args: string[]): Promise<string>;
  /** As `run`, with a manifest on its standard input. */
  feed(manifest: string, ...args: string[]): Promise<string>;
  /** Also when it fails. */
  attempt(...args: string[]): Promise<ProgramResult>;
  /** In the background. */
  start(...args: string[]): ChildProcessWithoutNullStreams;
  close(): Promise<void>;
}

/** @param timeoutMs of each call; default: that of `attemptProgram` */
export const createKubectl = async (kubeconfig: string, timeoutMs?: number): Promise<Kubectl> => {
  const folder = await mkdtemp(join(tmpdir(), 'kubectl-test-'));
  const config = join(folder, 'config');
  await writeFile(config, kubeconfig);
  const { file, args: loader } = treeCommand(await ensureTree(() => {}), 'usr/bin/kubectl');
  const fixed = [...loader, `--kubeconfig=${config}`, `--cache-dir=${join(folder, 'cache')}`];
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const execute = (args: readonly string[], input?: string): Promise<ProgramResult> =>
    attemptProgram(file, [...fixed, ...args], { env, input, timeoutMs });
  return {
    run: async (...args) => printed('kubectl', await execute(args)),
    feed: async (manifest, ...args) => printed('kubectl', await execute(args, manifest)),
    attempt: (...args) => execute(args),
    start: (...args) => spawn(file, [...fixed, ...args], { env }),
    close: () => rm(folder, { recursive: true, force: true }),
  };
};
