/** The options of commands that ask the API server, and whom they ask. */
import type { Command } from 'commander';
import type { PodLogTarget } from '../../kube/client/pod-log.ts';
import type { PodExec } from '../../kube/exec/types.ts';
import type { KubeClient } from '../../kube/types.ts';
import { type ServerOptions, withServer } from './server-options.ts';

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
  // The client is imported when a server is asked: a command about the own node needs none.
  const { withConnection } = await import('./connection.ts');
  return await withConnection(options, use);
};

/** Undefined: all. */
export const namespaceOf = ({ namespace, allNamespaces }: NamespaceOptions, ofContext: string): string | undefined =>
  allNamespaces === true ? undefined : (namespace ?? ofContext);
