/** The options of commands that ask the API server, and whom they ask. */
import type { Command } from 'commander';
import { createKubeClient } from '../../kube/client/client.ts';
import { type PodLogTarget, readPodLog } from '../../kube/client/pod-log.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { createPodExec } from '../../kube/exec/pod-exec.ts';
import type { PodExec } from '../../kube/exec/types.ts';
import { createHttpTransport } from '../../kube/transport/http-transport.ts';
import type { KubeClient } from '../../kube/types.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { overridesOf, type ServerOptions, withServer } from './server-options.ts';

export interface NamespaceOptions extends ServerOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

/** Where the programs are installed, and the Lease of the cluster manager. */
export const PROGRAMS_NAMESPACE = 'ovn-udn';

export const withNamespace = (command: Command): Command =>
  withServer(command)
    .option(
      '-n, --namespace <namespace>',
      'only this namespace; with the API server the default is the namespace of the kubeconfig',
    )
    .option('-A, --all-namespaces', 'all namespaces');

export interface Server {
  readonly client: KubeClient;
  /** Of the kubeconfig's context. */
  readonly namespace: string;
}

export interface ServerWithExec extends Server {
  /** Runs commands in pods. */
  readonly exec: PodExec;
  /** The end of a container's log. */
  readonly readLog: (target: PodLogTarget, tailLines: number, signal?: AbortSignal) => Promise<string>;
}

export const withClient = async <Result>(
  options: ServerOptions,
  use: (server: Server) => Promise<Result>,
): Promise<Result> => withExec(options, use);

export const withExec = async <Result>(
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

/** Undefined: all. */
export const namespaceOf = ({ namespace, allNamespaces }: NamespaceOptions, ofContext: string): string | undefined =>
  allNamespaces === true ? undefined : (namespace ?? ofContext);
