/** Finds out how to reach the API server. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../base/clock.ts';
import { KubeError } from '../errors.ts';
import type { FindServer } from './direct-server.ts';
import { inClusterConnection, SERVICE_ACCOUNT_FOLDER } from './in-cluster.ts';
import { connectionOf, type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts';
import { type ConnectionOverrides, isOverridden } from './overrides.ts';
import type { ClusterConnection } from './types.ts';

export interface LoadOptions {
  /** A file to use whatever the environment says. */
  readonly kubeconfig?: string | undefined;
  /** Instead of the file's current context. */
  readonly context?: string | undefined;
  /** Instead of what the file says otherwise. */
  readonly overrides?: ConnectionOverrides | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Where a pod's service account is mounted. */
  readonly serviceAccountFolder?: string | undefined;
  /** Asked in a pod, whose environment has the address of a Service. */
  readonly findServer?: FindServer | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * The first of: `kubeconfig`, the files of `KUBECONFIG`, the service account of the pod, `~/.kube/config`.
 * @throws KubeError ERR_KUBE_CONFIG
 */
export const loadConnection = async (options: LoadOptions): Promise<ClusterConnection> => {
  const { env, context, overrides = {}, clock = systemClock, serviceAccountFolder = SERVICE_ACCOUNT_FOLDER } = options;
  const choice = { context, overrides, clock };
  const files = filesOf(options);
  if (files.length > 0) return connectionOf(await merged(files), choice);
  const isInPod = env['KUBERNETES_SERVICE_HOST'] !== undefined && existsSync(join(serviceAccountFolder, 'token'));
  // A pod's own account is taken as it is: who wants something else of a server says which server.
  if (isInPod && !isOverridden(overrides)) {
    return await inClusterConnection({ env, folder: serviceAccountFolder, clock, findServer: options.findServer });
  }
  const home = homeFile(env);
  if (existsSync(home)) return connectionOf(await merged([home]), choice);
  if (overrides.server !== undefined) return connectionOf(mergeKubeconfigs([]), choice);
  throw new KubeError(
    'ERR_KUBE_CONFIG',
    `no API server is known: give --kubeconfig, set KUBECONFIG, or run in a pod (${home} does not exist either)`,
  );
};

/** The names that can be asked for, sorted. @throws KubeError ERR_KUBE_CONFIG */
export const loadNames = async (
  kind: 'contexts' | 'clusters' | 'users',
  options: Pick<LoadOptions, 'kubeconfig' | 'env'>,
): Promise<string[]> => {
  const files = filesOf(options);
  const config = await merged(files.length > 0 ? files : [homeFile(options.env)]);
  return [...config[kind].keys()].sort();
};

const filesOf = ({ kubeconfig, env }: Pick<LoadOptions, 'kubeconfig' | 'env'>): string[] =>
  kubeconfig === undefined ? (env['KUBECONFIG'] ?? '').split(':').filter((file) => file !== '') : [kubeconfig];

const homeFile = (env: NodeJS.ProcessEnv): string => join(env['HOME'] ?? '/', '.kube', 'config');

/** Of several files those that don't exist are left out, as kubectl does. */
const merged = async (files: readonly string[]): Promise<Kubeconfig> => {
  const present = files.length === 1 ? files : files.filter((file) => existsSync(file));
  return mergeKubeconfigs(await Promise.all(present.map(async (file) => parseKubeconfig(await read(file), file))));
};

const read = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new KubeError('ERR_KUBE_CONFIG', `can't read the kubeconfig ${file}: ${String(cause)}`, { cause });
  }
};
