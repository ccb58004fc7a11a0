/**
 * Where a daemon is asked for its metrics: in plain text on a loopback address, which is for the kubelet's probes, and with TLS
 * for Prometheus on another node. Whoever sends a token to the second one knows by the certificate who gets it.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from './errors.ts';
import { type Flag, type Flags, type ListenAddress, readListenAddress } from './flags.ts';
import { type Certificate, type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts';

export interface MetricsOptions {
  /** Undefined: not served there. */
  readonly plain: ListenAddress | undefined;
  readonly tls: TlsOptions | undefined;
}

interface TlsOptions {
  readonly address: ListenAddress;
  /** With `tls.crt` and `tls.key`, as a Secret of type kubernetes.io/tls is mounted. */
  readonly folder: string;
}

export const METRICS_FLAGS: readonly Flag[] = [
  { flag: 'metrics-address', help: 'serve /metrics, /healthz and /readyz on host:port', defaultText: 'off' },
  { flag: 'metrics-tls-address', help: 'serve the same with TLS on host:port', defaultText: 'off' },
  { flag: 'metrics-tls-folder', help: 'folder with tls.crt and tls.key for it, reread when they change' },
];

/** @throws UsageError */
export const readMetricsOptions = (flags: Flags): MetricsOptions => {
  const plain = readListenAddress(flags, 'metrics-address');
  const address = readListenAddress(flags, 'metrics-tls-address');
  const folder = flags.text('metrics-tls-folder');
  if (address === undefined && folder === undefined) return { plain, tls: undefined };
  if (address === undefined || folder === undefined) {
    throw new UsageError('--metrics-tls-address and --metrics-tls-folder go together');
  }
  return { plain, tls: { address, folder } };
};

export interface MetricsListeners {
  /** Undefined where it is not served. */
  readonly port: number | undefined;
  readonly tlsPort: number | undefined;
  close(): Promise<void>;
}

/**
 * @param onStale a certificate that changed and can't be used: the one before stays
 * @throws when an address can't be listened on, or the certificate can't be used at the start
 */
export const startMetricsListeners = async (
  { plain, tls }: MetricsOptions,
  answers: Omit<HttpServerOptions, 'address' | 'certificate'>,
  onStale: (error: unknown) => void,
): Promise<MetricsListeners> => {
  const stack = new AsyncDisposableStack();
  try {
    const listen = async (options: Pick<HttpServerOptions, 'address' | 'certificate'>): Promise<HttpServer> => {
      const server = await startHttpServer({ ...answers, ...options });
      stack.defer(() => server.close());
      return server;
    };
    const first = plain && (await listen({ address: plain }));
    const second = tls && (await listen({ address: tls.address, certificate: await readCertificate(tls.folder) }));
    if (tls !== undefined && second !== undefined) {
      const watcher = followCertificate(tls.folder, second, onStale);
      stack.defer(() => watcher.close());
    }
    return { port: first?.port, tlsPort: second?.port, close: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

/** One after the other, so that an empty folder is always reported by the certificate. */
const readCertificate = async (folder: string): Promise<Certificate> => ({
  cert: await readFile(join(folder, 'tls.crt'), 'utf8'),
  key: await readFile(join(folder, 'tls.key'), 'utf8'),
});

/** The kubelet replaces both files of a Secret at once, by renaming a link in their folder. */
const followCertificate = (folder: string, server: HttpServer, onStale: (error: unknown) => void): FSWatcher => {
  let turn = Promise.resolve();
  return watch(folder, () => {
    turn = turn.then(async () => server.renew(await readCertificate(folder))).catch(onStale);
  }).on('error', onStale);
};
