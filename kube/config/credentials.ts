/** Who we are to the API server. Tokens and certificates in files are rotated: they are read again. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { KubeError } from '../errors.ts';
import { jsonEqual } from '../json-equal.ts';
import { createExecPlugin, type ExecConfig, type ExecCredential } from './exec-plugin.ts';
import type { Credentials, TlsMaterial } from './types.ts';

export type FileOrText = { readonly file: string } | { readonly text: string };

/** https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
}

export interface CredentialSources {
  readonly token?: string | undefined;
  /** Wins over `token`. */
  readonly tokenFile?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly exec?: ExecConfig | undefined;
  readonly impersonate?: Impersonation | undefined;
  readonly ca?: FileOrText | undefined;
  readonly cert?: FileOrText | undefined;
  readonly key?: FileOrText | undefined;
  readonly servername?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly server?: string | undefined;
}

/** As client-go: kubelet renews a token long before it expires. */
const REREAD_MS = 60_000;

export const createCredentials = (sources: CredentialSources, { clock }: { clock: Clock }): Credentials => {
  const files = createFileCache(clock);
  const plugin = sources.exec === undefined ? undefined : createExecPlugin(sources.exec, sources);
  let tls: TlsMaterial = {};
  return {
    headers: async () => ({
      ...authorization(sources, await tokenOf(sources, files), await plugin?.credential()),
      ...impersonation(sources),
    }),
    tls: async () => {
      const next = await readTls(sources, files, await plugin?.credential());
      if (!jsonEqual(tls, next)) tls = next;
      return tls;
    },
    refresh: () => {
      files.clear();
      plugin?.forget();
      return sources.tokenFile !== undefined || plugin !== undefined || isFile(sources.cert);
    },
  };
};

interface FileCache {
  read(path: string): Promise<string>;
  clear(): void;
}

const createFileCache = (clock: Clock): FileCache => {
  const cache = new Map<string, { readonly content: string; readonly at: number }>();
  return {
    read: async (path) => {
      const known = cache.get(path);
      if (known !== undefined && clock.monotonic() - known.at < REREAD_MS) return known.content;
      const content = await readCredentialFile(path);
      cache.set(path, { content, at: clock.monotonic() });
      return content;
    },
    clear: () => cache.clear(),
  };
};

const readCredentialFile = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new KubeError('ERR_KUBE_CONFIG', `can't read the credentials in ${path}: ${String(cause)}`, { cause });
  }
};

const tokenOf = async (sources: CredentialSources, files: FileCache): Promise<string | undefined> =>
  sources.tokenFile === undefined ? sources.token : (await files.read(sources.tokenFile)).trim();

const authorization = (
  { basic }: CredentialSources,
  token: string | undefined,
  exec: ExecCredential | undefined,
): Record<string, string> => {
  const bearer = token ?? exec?.token;
  if (bearer !== undefined) return { authorization: `Bearer ${bearer}` };
  if (basic === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}` };
};

const impersonation = ({ impersonate }: CredentialSources): Record<string, string | readonly string[]> => {
  if (impersonate === undefined) return {};
  const { user, uid, groups } = impersonate;
  return {
    'impersonate-user': user,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
  };
};

const readTls = async (
  sources: CredentialSources,
  files: FileCache,
  exec: ExecCredential | undefined,
): Promise<TlsMaterial> => {
  const [ca, cert, key] = await Promise.all(
    [sources.ca, sources.cert, sources.key].map((source) => contentOf(source, files)),
  );
  return {
    ca,
    cert: cert ?? exec?.cert,
    key: key ?? exec?.key,
    servername: sources.servername,
    rejectUnauthorized: sources.insecure !== true,
  };
};

const contentOf = (source: FileOrText | undefined, files: FileCache): Promise<string | undefined> => {
  if (source === undefined) return Promise.resolve(undefined);
  return 'text' in source ? Promise.resolve(source.text) : files.read(source.file);
};

const isFile = (source: FileOrText | undefined): boolean => source !== undefined && 'file' in source;
