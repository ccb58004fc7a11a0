/** One exchange with an API server. The HTTP client is one; the embedded server has one without sockets. */
export interface Transport {
  /**
   * Resolves when the response's head is there.
   * @throws KubeError ERR_KUBE_NETWORK, ERR_KUBE_TIMEOUT or ERR_KUBE_CONFIG, or the signal's reason
   */
  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse>;
  close(): void;
}

export interface TransportRequest {
  readonly method: string;
  /** With query, for example `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** A watch: no limit on the time to the end of the body. */
  readonly streaming?: boolean | undefined;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read to its end or left early (`break`, `return()`); either frees the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}
