/** Kubeconfig files: parsing, merging and choosing a context (kubectl's own rules). */
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { KubeError } from '../errors.ts';
import { type CredentialSources, createCredentials, type FileOrText } from './credentials.ts';
import type { ClusterConnection } from './types.ts';

const text = z.string().nullish();

const clusterSchema = z.object({
  server: z.string().min(1),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': text,
  'proxy-url': text,
});

const execSchema = z.object({
  apiVersion: text,
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  provideClusterInfo: z.boolean().nullish(),
});

const userSchema = z.object({
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  username: text,
  password: text,
  exec: execSchema.nullish(),
  'auth-provider': z.unknown().optional(),
  as: text,
  'as-groups': z.array(z.string()).nullish(),
});

const contextSchema = z.object({ cluster: z.string(), user: text, namespace: text });

const kubeconfigSchema = z.object({
  'current-context': text,
  clusters: z.array(z.object({ name: z.string(), cluster: clusterSchema })).nullish(),
  users: z.array(z.object({ name: z.string(), user: userSchema.nullish() })).nullish(),
  contexts: z.array(z.object({ name: z.string(), context: contextSchema })).nullish(),
});

type Cluster = z.infer<typeof clusterSchema>;
type User = z.infer<typeof userSchema>;
type Context = z.infer<typeof contextSchema>;

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

/** @throws KubeError ERR_KUBE_CONFIG */
export const connectionOf = (
  config: Kubeconfig,
  { context: wanted, clock }: { context?: string | undefined; clock: Clock },
): ClusterConnection => {
  const name = wanted ?? config.currentContext;
  if (name === undefined) throw new KubeError('ERR_KUBE_CONFIG', 'the kubeconfig has no current-context');
  const context = found(config.contexts, name, 'context');
  const cluster = found(config.clusters, context.cluster, 'cluster');
  const user = context.user ? found(config.users, context.user, 'user') : {};
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: context.namespace || 'default',
    proxyUrl: cluster['proxy-url'] || undefined,
    credentials: createCredentials(sourcesOf(cluster, user, context.user ?? ''), { clock }),
  };
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
    userName,
    token: user.token || undefined,
    tokenFile: user.tokenFile || undefined,
    basic: user.username ? { username: user.username, password: user.password ?? '' } : undefined,
    exec: user.exec ?? undefined,
    impersonate: user.as ? { user: user.as, groups: user['as-groups'] ?? [] } : undefined,
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
