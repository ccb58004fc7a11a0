/** The connection of a pod: the service account's token is rotated by kubelet, its file is read again and again. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { KubeError } from '../errors.ts';
import { createCredentials } from './credentials.ts';
import type { FindServer } from './direct-server.ts';
import type { ClusterConnection } from './types.ts';

export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

interface InClusterOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly clock: Clock;
  readonly findServer?: FindServer | undefined;
}

/** @throws KubeError ERR_KUBE_CONFIG */
export const inClusterConnection = async ({
  env,
  folder,
  clock,
  findServer,
}: InClusterOptions): Promise<ClusterConnection> => {
  const host = env['KUBERNETES_SERVICE_HOST'];
  if (host === undefined) throw new KubeError('ERR_KUBE_CONFIG', 'KUBERNETES_SERVICE_HOST is not set: not in a pod');
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  const found = await findServer?.({ host, port: Number(port) });
  return {
    server: found ?? `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: await readFile(join(folder, 'namespace'), 'utf8').then(
      (text) => text.trim(),
      () => 'default',
    ),
    credentials: createCredentials(
      { tokenFile: join(folder, 'token'), ca: { file: join(folder, 'ca.crt') } },
      { clock },
    ),
  };
};
