/** Opens the console in the user's browser. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilAborted } from '../../base/abort.ts';

/** The program that opens a file. */
export type StartProgram = (file: string, args: readonly string[], options: DetachedOptions) => StartedProgram;

interface DetachedOptions {
  readonly detached: true;
  readonly stdio: 'ignore';
}

interface StartedProgram {
  once(event: 'error', listener: () => void): unknown;
  unref(): void;
}

/**
 * Until the signal aborts. Arguments of processes are seen by every user of the machine, and the address is a secret: the browser
 * is given a file that only its user reads, which leads there.
 */
export const inBrowser = async (
  address: string,
  print: (line: string) => void,
  signal: AbortSignal,
  start: StartProgram = spawn,
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'udnctl-console-'));
  try {
    const file = join(folder, 'console.html');
    await writeFile(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${address}">`, { mode: 0o600 });
    // The browser may be this very process: it stays at Ctrl-C, and its messages are not for this terminal.
    const opener = start(OPENER, [file], { detached: true, stdio: 'ignore' });
    opener.once('error', () => print('No browser could be opened: open the address above.'));
    opener.unref();
    await untilAborted(signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const OPENER = process.platform === 'darwin' ? 'open' : 'xdg-open';
