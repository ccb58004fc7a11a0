/** `udnctl console`: a page of the cluster's networks in the browser of who runs it, and for nobody else. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onAbort, untilAborted } from '../../base/abort.ts';
import { withExec } from '../cluster/cluster-command.ts';
import type { ServerOptions } from '../cluster/server-options.ts';
import { askNode } from '../console/ask-node.ts';
import { createLive, type Live } from '../console/live.ts';
import { createMirrors } from '../console/mirrors.ts';
import { ASSETS } from '../console/page.gen.ts';
import { startConsoleServer } from '../console/server.ts';

export interface ConsoleOptions extends ServerOptions {
  /** The only one that is watched. */
  readonly namespace?: string;
  readonly port: number;
  readonly browser: boolean;
  readonly agentNamespace: string;
}

/** Until the signal aborts. @param print a line for the user @throws when the port is in use, or the kubeconfig cannot be read */
export const runConsole = (
  options: ConsoleOptions,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> =>
  withExec(options, async ({ client, exec }) => {
    const token = randomBytes(32).toString('base64url');
    const tools = { client, exec, namespace: options.agentNamespace };
    let live: Live | undefined;
    const mirrors = createMirrors({ client, namespace: options.namespace, onChange: () => live?.changed() });
    live = createLive({ mirrors });
    const server = await startConsoleServer({
      ...{ port: options.port, token, live, assets: new Map(Object.entries(ASSETS)) },
      ask: (question, asked) => askNode(tools, question, asked),
    });
    try {
      const address = `http://127.0.0.1:${server.port}/#${token}`;
      print(
        `${address}\nServed to this machine alone, with the rights of your kubeconfig. The address is a secret; Ctrl-C ends it.`,
      );
      const watching = mirrors.run(signal);
      await (options.browser ? inBrowser(address, print, signal) : untilAborted(signal));
      await watching;
    } finally {
      live.close();
      await server.close();
    }
  });

/**
 * Arguments of processes are seen by every user of the machine, and the address is a secret: the browser is given a file that only its
 * user reads, which leads there.
 */
const inBrowser = async (address: string, print: (line: string) => void, signal: AbortSignal): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'udnctl-console-'));
  try {
    const file = join(folder, 'console.html');
    await writeFile(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${address}">`, { mode: 0o600 });
    const opener = execFile(process.platform === 'darwin' ? 'open' : 'xdg-open', [file]);
    opener.once('error', () => print('No browser could be opened: open the address above.'));
    opener.unref();
    onAbort(signal, () => opener.kill());
    await untilAborted(signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
