import type { Clock } from '../../base/clock.ts';
import type { Transport } from '../transport/types.ts';
import type { KubeClient } from '../types.ts';

export interface EmbeddedClusterOptions {
  /** Where ClusterIPs come from, at most one per family; the first is the default family. `10.96.0.0/16`. */
  readonly serviceCidrs?: readonly string[] | undefined;
  /** What the Service `default/kubernetes` leads to. Absent: the Service has no endpoints. */
  readonly apiServerEndpoint?: { readonly addresses: readonly string[]; readonly port: number } | undefined;
  /** Changes that watches can resume from, for all resources together. 20 000. */
  readonly historySize?: number | undefined;
  /** Between two bookmarks of a watch. 60 000 ms. */
  readonly bookmarkIntervalMs?: number | undefined;
  /**
   * A file to keep the objects in: the next server with it goes on with the same objects and resource versions, also when
   * this one was killed. Its folder must exist. For one server at a time. Absent: nothing is kept.
   */
  readonly data?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** An API server without sockets. */
export interface EmbeddedCluster {
  /** In-process, without authentication. */
  readonly transport: Transport;
  /** A KubeClient over `transport`. */
  client(userAgent?: string): KubeClient;
  /** Forgets the history: every watch and continue token from before now is answered with 410. */
  compact(): void;
  /** Ends all watches, as a restart of an API server does. */
  disconnectWatches(): void;
  /** Resolves when garbage collection and namespace deletion have nothing left to do at once. */
  settled(): Promise<void>;
  close(): void;
}

export interface EmbeddedServerOptions extends EmbeddedClusterOptions {
  /** Port 0 takes a free one. */
  readonly listen: readonly (ListenTcp | ListenUnix)[];
  /** When given, every request but the health checks needs it as its bearer token. */
  readonly token?: string | undefined;
}

export interface ListenTcp {
  readonly host: string;
  readonly port: number;
}

export interface ListenUnix {
  readonly path: string;
}

export interface EmbeddedServer {
  readonly cluster: EmbeddedCluster;
  /** One per entry of `listen`, in its order: `http://host:port` or `unix:/path`. */
  readonly urls: readonly string[];
  /** A kubeconfig, as YAML, for one of `urls`. Default: the first. */
  kubeconfig(url?: string): string;
  /** Ends watches and closes listeners and connections; unix sockets are unlinked. */
  close(): Promise<void>;
}
