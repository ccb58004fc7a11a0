/** Kubeconfig files: parsing, merging and choosing a context (kubectl's own rules). */
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { KubeError } from '../errors.ts';
import { type CredentialSources, createCredentials, type FileOrText } from './credentials.ts';
import { type Cluster, type Context, kubeconfigSchema, type User } from './kubeconfig-schema.ts';
import { type ConnectionOverrides, overriddenCluster, overriddenUser } from './overrides.ts';
import type { ClusterConnection } from './types.ts';

export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly users: ReadonlyMap<string, User>;
  readonly contexts: ReadonlyMap<string, Context>;
}

/**
 * @param file the text's origin: for messages, and for the paths in it, which are relative to it
 * @throws KubeError ERR_KUBE_CONFIG that names the field
 */
export const parseKubeconfig = (source: string, file: string): Kubeconfig => {
  const result = kubeconfigSchema.safeParse(parseYaml(source, file));
  if (!result.success) {
    throw new KubeError('ERR_KUBE_CONFIG', `kubeconfig ${file}: ${z.prettifyError(result.error)}`);
  }
  const { clusters, users, contexts } = result.data;
  return {
    currentContext: result.data['current-context'] || undefined,
    clusters: new Map(firstWins(clusters ?? []).map(({ name, cluster }) => [name, withPaths(cluster, file)])),
    users: new Map(firstWins(users ?? []).map(({ name, user }) => [name, withPaths(user ?? {}, file)])),
    contexts: new Map(firstWins(contexts ?? []).map(({ name, context }) => [name, context])),
  };
};

/** The first file that has a name, or a current context, wins. */
export const mergeKubeconfigs = (files: readonly Kubeconfig[]): Kubeconfig => {
  const backwards = [...files].reverse();
  return {
    currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: new Map(backwards.flatMap(({ clusters }) => [...clusters])),
    users: new Map(backwards.flatMap(({ users }) => [...users])),
    contexts: new Map(backwards.flatMap(({ contexts }) => [...contexts])),
  };
};

export interface ConnectionChoice {
  /** Instead of the current one. */
  readonly context?: string | undefined;
  readonly overrides?: ConnectionOverrides | undefined;
  readonly clock: Clock;
}

/** @throws KubeError ERR_KUBE_CONFIG */
export const connectionOf = (
  config: Kubeconfig,
  { context: requested, overrides = {}, clock }: ConnectionChoice,
): ClusterConnection => {
  const context = chosenContext(config, requested, overrides);
  const clusterName = overrides.cluster ?? context.cluster;
  const isNamed = clusterName !== '' || overrides.server === undefined;
  const cluster = overriddenCluster(isNamed ? found(config.clusters, clusterName, 'cluster') : NO_CLUSTER, overrides);
  const userName = overrides.user ?? context.user ?? '';
  const user = overriddenUser(userName === '' ? {} : found(config.users, userName, 'user'), overrides);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: context.namespace || 'default',
    proxyUrl: cluster['proxy-url'] || undefined,
    credentials: createCredentials(sourcesOf(cluster, user, userName), { clock }),
  };
};

const NO_CLUSTER: Cluster = { server: '' };

/** Who names a server, or a cluster, needs no context. */
const chosenContext = (
  { contexts, currentContext }: Kubeconfig,
  requested: string | undefined,
  { cluster, server }: ConnectionOverrides,
): Context => {
  const name = requested ?? currentContext;
  if (name !== undefined) return found(contexts, name, 'context');
  if (cluster === undefined && server === undefined) {
    throw new KubeError('ERR_KUBE_CONFIG', 'the kubeconfig has no current-context');
  }
  return { cluster: '' };
};

const parseYaml = (source: string, file: string): unknown => {
  try {
    return parse(source);
  } catch (cause) {
    throw new KubeError('ERR_KUBE_CONFIG', `kubeconfig ${file} is not YAML: ${String(cause)}`, { cause });
  }
};

const firstWins = <T extends { readonly name: string }>(entries: readonly T[]): T[] =>
  entries.filter(({ name }, i) => entries.findIndex((other) => other.name === name) === i);

const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'] as const;

const withPaths = <T extends Cluster | User>(entry: T, file: string): T => {
  const copy: Record<string, unknown> = { ...entry };
  for (const name of PATHS) {
    const path = copy[name];
    if (typeof path === 'string' && path !== '' && !isAbsolute(path)) copy[name] = join(dirname(file), path);
  }
  return copy as T;
};

const found = <T>(entries: ReadonlyMap<string, T>, name: string, what: string): T => {
  const entry = entries.get(name);
  if (entry === undefined) throw new KubeError('ERR_KUBE_CONFIG', `the kubeconfig has no ${what} "${name}"`);
  return entry;
};

const sourcesOf = (cluster: Cluster, user: User, userName: string): CredentialSources => {
  if (user['auth-provider'] !== undefined && user['auth-provider'] !== null) {
    throw new KubeError(
      'ERR_KUBE_CONFIG',
      `user "${userName}" has an auth-provider, which Kubernetes 1.26 removed: use an exec plugin`,
    );
  }
  return {
    token: user.token || undefined,
    tokenFile: user.tokenFile || undefined,
    basic: user.username ? { username: user.username, password: user.password ?? '' } : undefined,
    exec: user.exec ?? undefined,
    impersonate: user.as
      ? { user: user.as, uid: user['as-uid'] || undefined, groups: user['as-groups'] ?? [] }
      : undefined,
    ca: fileOrText(cluster['certificate-authority'], cluster['certificate-authority-data']),
    cert: fileOrText(user['client-certificate'], user['client-certificate-data']),
    key: fileOrText(user['client-key'], user['client-key-data']),
    servername: cluster['tls-server-name'] || undefined,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    server: cluster.server,
  };
};

/** Inline data wins over a file, as in client-go. */
const fileOrText = (file: string | null | undefined, data: string | null | undefined): FileOrText | undefined => {
  if (data) return { text: Buffer.from(data, 'base64').toString('utf8') };
  return file ? { file } : undefined;
};
