/** A supervisor in a process of its own, which lives on when the one that started it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { findArtifacts } from '../artifacts.ts';
import { SandboxError, type SandboxErrorCode } from '../errors.ts';
import type { SandboxOptionsInput } from '../plan/options.ts';

/** A line of what the supervisor says while it starts. */
export const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), message: z.string() }),
  z.object({ kind: z.literal('up') }),
  z.object({ kind: z.literal('failed'), code: z.string(), message: z.string() }),
]);

export type SupervisorReport = z.infer<typeof reportSchema>;

/**
 * Resolves when the sandbox is up. SIGINT and SIGTERM of this process end it while it starts.
 * @throws SandboxError
 */
export const startDetached = async (
  options: SandboxOptionsInput,
  progress: (message: string) => void,
): Promise<void> => {
  const { node, dist } = findArtifacts();
  const child = spawn(node, [join(dist, 'sandbox.mjs'), 'supervise', JSON.stringify(options)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = (): void => void child.kill('SIGTERM');
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await lastReport(child, progress);
  } finally {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }
};

/**
 * Reads what a supervisor says until the sandbox is up.
 * @throws SandboxError with what it said when it failed
 */
export const lastReport = async (child: ChildProcess, progress: (message: string) => void): Promise<void> => {
  if (child.stdout === null || child.stderr === null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const complaint = text(child.stderr);
  complaint.catch(() => {});
  for await (const line of createInterface(child.stdout)) {
    const report = reportSchema.parse(JSON.parse(line));
    if (report.kind === 'up') return;
    if (report.kind === 'failed') {
      await ended;
      throw new SandboxError(report.code as SandboxErrorCode, report.message);
    }
    progress(report.message);
  }
  throw new SandboxError('ERR_SANDBOX_PART', `the supervisor ended: ${(await complaint).trim() || 'it was stopped'}`);
};
