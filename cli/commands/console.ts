/** `udnctl console`: a page of the cluster's networks in the browser of who runs it, and for nobody else. */
import { randomBytes } from 'node:crypto';
import { alongside, untilAborted } from '../../base/abort.ts';
import { withExec } from '../cluster/cluster-command.ts';
import type { ServerOptions } from '../cluster/server-options.ts';
import { askNode } from '../console/ask-node.ts';
import { inBrowser } from '../console/in-browser.ts';
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
  withExec(options, async ({ client, exec, readLog }) => {
    const token = randomBytes(32).toString('base64url');
    const tools = { client, exec, readLog, namespace: options.agentNamespace };
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
      await alongside(mirrors.run, signal, () =>
        options.browser ? inBrowser(address, print, signal) : untilAborted(signal),
      );
    } finally {
      live.close();
      await server.close();
    }
  });
