/** Runs the clients that are compared, each in a process of its own. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { schemaPath } from '../../ovsdb/testing/schemas.ts';
import { ensureTree, treeCommand } from '../../sandbox/tree/tree.ts';

export type Mode = 'sync' | 'updates';

/** Milliseconds; `rss` in bytes. */
export interface Measured {
  readonly sync: number;
  readonly updates?: number;
  readonly rss?: number;
}

export interface ClientRun {
  readonly mode: Mode;
  /** `unix:PATH` */
  readonly remote: string;
  /** How many ports it has to have before it is current. */
  readonly rows: number;
  readonly sentinel: string;
  /** Called when the client is current and waits for updates. */
  readonly onReady?: () => void;
}

/** A client that takes longer has lost its server. */
const MAX_MS = 120_000;

export const runReplica = ({ mode, remote, sentinel, onReady }: ClientRun): Promise<Measured> =>
  run(process.execPath, [join(import.meta.dirname, 'replica-client.ts'), mode, remote, sentinel], process.env, onReady);

export const runIdl = async ({ mode, remote, rows, sentinel, onReady }: ClientRun): Promise<Measured> => {
  const tree = await ensureTree(console.error);
  const { file, args } = treeCommand(tree, 'usr/bin/python3');
  const script = join(import.meta.dirname, 'idl-client.py');
  const env = { PYTHONHOME: join(tree, 'usr'), PYTHONDONTWRITEBYTECODE: '1' };
  return run(file, [...args, script, mode, remote, schemaPath('ovn-northbound'), String(rows), sentinel], env, onReady);
};

const run = (
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  onReady: () => void = () => {},
): Promise<Measured> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'inherit'], timeout: MAX_MS });
    let measured: Measured | undefined;
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'ready') onReady();
      else measured = JSON.parse(line) as Measured;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (measured === undefined) reject(new Error(`${file} ended with ${code}`));
      else resolve(measured);
    });
  });
