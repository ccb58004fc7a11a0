import type { CommandLine } from '../machine/types.ts';

/** Where an API server is wanted and what it has to know. */
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

/** A kind of API server: what starts one. It runs until it gets SIGTERM. */
export interface ApiServerKind {
  command(request: ApiServerRequest): CommandLine;
}
