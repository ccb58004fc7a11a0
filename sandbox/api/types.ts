import type { CommandLine } from '../machine/types.ts';

/** Where an API server is requested and what it has to know. */
export interface ApiServerRequest {
  /** Written when the server is ready: for kubectl on this machine. */
  readonly kubeconfig: string;
  /** A unix socket to listen on as well; nodes reach it through a forwarder. */
  readonly socket: string;
  /** A folder: when the server is started again, also after a crash, it goes on with what is there, at the same address. */
  readonly data: string;
  readonly serviceSubnets: readonly string[];
  /** What the Service default/kubernetes leads to. */
  readonly endpoint: { readonly addresses: readonly string[]; readonly port: number };
}

/** An API server that is one program: what starts it. It runs until it gets SIGTERM. */
export interface ApiServerKind {
  command(request: ApiServerRequest): CommandLine;
}

/** Who uses the API server on a node: a person, as an administrator, or a program with the rights that it needs. */
export type NodeUser = 'administrator' | 'kubelet' | 'agent';

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

/** An API server that answers. */
export interface ApiAccess {
  /** Applied before the programs start, beside the custom resource definitions: paths below `daemonset/`. */
  readonly manifests: readonly string[];
  /**
   * The contents of a kubeconfig. For an agent it is there when the node is registered, if there is a kubelet that does.
   * @throws the signal's reason
   */
  nodeKubeconfig(user: NodeUser, node: string, signal: AbortSignal): Promise<string>;
  /** The contents of one for pods of the default network, with the rights of a service account that is there. */
  podKubeconfig(account: ServiceAccount): Promise<string>;
  /** A file on this machine. After the manifests were applied. */
  clusterManagerKubeconfig(): Promise<string>;
}
