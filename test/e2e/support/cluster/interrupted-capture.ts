/** `udnctl capture` on this machine, about a pod elsewhere, ended as a user does: by Ctrl-C. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findArtifacts } from '../../../../sandbox/artifacts.ts';

const indexSchema = z.object({
  captured: z.array(z.object({ name: z.string(), packets: z.int(), file: z.string() })),
});

export interface InterruptedCapture {
  readonly status: number | null;
  readonly captured: readonly { readonly name: string; readonly packets: number; readonly mode: number }[];
}

/** @param work what is captured @throws when it ends before it captures */
export const interruptCapture = async (
  kubeconfig: string | undefined,
  words: readonly string[],
  folder: string,
  work: () => Promise<unknown>,
): Promise<InterruptedCapture> => {
  const { node, dist } = findArtifacts();
  const command = [join(dist, 'udnctl.mjs'), 'capture', ...words, '--output', folder];
  const child = spawn(node, command, { env: { PATH: process.env['PATH'], KUBECONFIG: kubeconfig } });
  const ended = once(child, 'exit');
  try {
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => (/capturing at/.test(String(chunk)) ? resolve() : undefined));
      child.once('exit', () => reject(new Error('it has ended before')));
    });
    await work();
  } finally {
    child.kill('SIGINT');
  }
  const [status] = await ended;
  const { captured } = indexSchema.parse(JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')));
  const modeOf = async (file: string): Promise<number> => (await stat(join(folder, file))).mode & 0o777;
  return {
    status,
    captured: await Promise.all(captured.map(async ({ file, ...hop }) => ({ ...hop, mode: await modeOf(file) }))),
  };
};
