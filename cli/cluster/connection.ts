/** The connection to the API server that a command's options name. */
import { createKubeClient } from '../../kube/client/client.ts';
import { readPodLog } from '../../kube/client/pod-log.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { createPodExec } from '../../kube/exec/pod-exec.ts';
import { createHttpTransport } from '../../kube/transport/http-transport.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { ServerWithExec } from './cluster-command.ts';
import { overridesOf, type ServerOptions } from './server-options.ts';

/** It is closed at the end, whatever that is. */
export const withConnection = async <Result>(
  options: ServerOptions,
  use: (server: ServerWithExec) => Promise<Result>,
): Promise<Result> => {
  const { kubeconfig, context, requestTimeout: timeoutMs } = options;
  const connection = await loadConnection({ kubeconfig, context, overrides: overridesOf(options), env: process.env });
  const userAgent = `udnctl/${packageJson.version}`;
  const transport = createHttpTransport({ connection, timeoutMs });
  const client = createKubeClient({ transport, userAgent });
  const exec = createPodExec(connection, { userAgent, timeoutMs });
  try {
    return await use({
      ...{ client, exec, namespace: connection.namespace },
      readLog: (target, tailLines, signal) => readPodLog(transport, target, tailLines, signal),
    });
  } finally {
    client.close();
    exec.close();
  }
};
