/** The embedded API server over HTTP. */
import { stringify } from 'yaml';
import { onAbort } from '../../base/abort.ts';
import { createEmbeddedCluster } from './cluster.ts';
import { type Listener, listen } from './http-server.ts';
import type { EmbeddedServer, EmbeddedServerOptions } from './types.ts';

/**
 * Resolves when every address is listened on.
 * @param signal closes the server when it aborts
 * @throws Error when an address can't be listened on; nothing is left open then
 */
export const startEmbeddedServer = async (
  options: EmbeddedServerOptions,
  signal?: AbortSignal,
): Promise<EmbeddedServer> => {
  signal?.throwIfAborted();
  const cluster = createEmbeddedCluster(options);
  const listeners: Listener[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= closeAll();
    return closing;
  };
  const closeAll = async (): Promise<void> => {
    stopListening();
    cluster.close();
    await Promise.all(listeners.map((listener) => listener.close()));
  };
  let stopListening: () => void = () => {};
  try {
    for (const address of options.listen) listeners.push(await listen(cluster, address, options.token));
  } catch (error) {
    await close();
    throw error;
  }
  stopListening = onAbort(signal, close);
  const urls = listeners.map(({ url }) => url);
  return {
    cluster,
    urls,
    kubeconfig: (url = urls[0] ?? '') => kubeconfigOf(url, options.token),
    close,
  };
};

const kubeconfigOf = (server: string, token: string | undefined): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'embedded',
    clusters: [{ name: 'embedded', cluster: { server } }],
    users: [{ name: 'admin', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'embedded', context: { cluster: 'embedded', user: 'admin' } }],
  });
