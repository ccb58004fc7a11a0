/** The options of commands that ask the API server, and whom they ask. */
import type { Command } from 'commander';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import type { KubeClient } from '../../kube/types.ts';
import packageJson from '../../package.json' with { type: 'json' };

export interface ServerOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface NamespaceOptions extends ServerOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

/** Where the programs are installed, and the Lease of the cluster manager. */
export const PROGRAMS_NAMESPACE = 'ovn-udn';

/** The placeholders say what a shell may complete: see completion/. */
export const withServer = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'how the API server is reached, instead of KUBECONFIG')
    .option('--context <context>', 'of the kubeconfig, instead of its current one');

export const withNamespace = (command: Command): Command =>
  withServer(command)
    .option('-n, --namespace <namespace>', 'only of this namespace; of the API server: default, that of the kubeconfig')
    .option('-A, --all-namespaces', 'of all namespaces');

export interface Server {
  readonly client: KubeClient;
  /** Of the kubeconfig's context. */
  readonly namespace: string;
}

export const withClient = async <Result>(
  { kubeconfig, context }: ServerOptions,
  use: (server: Server) => Promise<Result>,
): Promise<Result> => {
  const connection = await loadConnection({ kubeconfig, context, env: process.env });
  const client = connect(connection, { userAgent: `udnctl/${packageJson.version}` });
  try {
    return await use({ client, namespace: connection.namespace });
  } finally {
    client.close();
  }
};

/** Undefined: all. */
export const namespaceOf = ({ namespace, allNamespaces }: NamespaceOptions, ofContext: string): string | undefined =>
  allNamespaces === true ? undefined : (namespace ?? ofContext);
