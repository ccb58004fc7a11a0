/** How to reach an API server and as whom. Files behind it are read again when they may have changed. */
export interface ClusterConnection {
  /** `https://host:port`, `http://host:port`, with a path prefix where a proxy wants one, or `unix:/path/to.sock`. */
  readonly server: string;
  /** The namespace of the context or of the service account. */
  readonly namespace: string;
  /** The proxy to go through, from the kubeconfig. */
  readonly proxyUrl?: string | undefined;
  readonly credentials: Credentials;
}

export interface Credentials {
  /** Of the next request, for example `authorization`. */
  headers(): Promise<Readonly<Record<string, string | readonly string[]>>>;
  /** The same object as long as nothing has changed. */
  tls(): Promise<TlsMaterial>;
  /** The server said 401: forget what is cached. True when there is a source that may have something newer. */
  refresh(): boolean;
}

export interface TlsMaterial {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}
