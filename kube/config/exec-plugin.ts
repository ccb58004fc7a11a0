/**
 * Credential plugins (client.authentication.k8s.io): the program is run by @kubernetes/client-node, which also keeps what
 * it said until it expires. Only that one file of the package is imported: the whole costs 20 MB of memory.
 */
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { KubeError } from '../errors.ts';

export interface ExecConfig {
  readonly apiVersion?: string | null | undefined;
  readonly command: string;
  readonly args?: readonly string[] | null | undefined;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null | undefined;
}

export interface ExecCredential {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ExecPlugin {
  /** @throws KubeError ERR_KUBE_CONFIG with what the program printed */
  credential(): Promise<ExecCredential>;
  /** The next call runs the program again. */
  forget(): void;
}

export const createExecPlugin = (
  exec: ExecConfig,
  { userName = '', server = '' }: { readonly userName?: string | undefined; readonly server?: string | undefined },
): ExecPlugin => {
  const user = { name: userName, exec: { ...exec, args: exec.args ?? [], env: environmentOf(exec, server) } };
  let auth = new ExecAuth();
  return {
    credential: async () => {
      const request: { headers: Record<string, string>; cert?: unknown; key?: unknown } = { headers: {} };
      await auth.applyAuthentication(user, request as Parameters<ExecAuth['applyAuthentication']>[1]).catch((cause) => {
        throw new KubeError('ERR_KUBE_CONFIG', `credential plugin ${exec.command}: ${String(cause)}`, { cause });
      });
      return {
        token: request.headers['Authorization']?.replace(/^Bearer /, ''),
        cert: typeof request.cert === 'string' ? request.cert : undefined,
        key: typeof request.key === 'string' ? request.key : undefined,
      };
    },
    forget: () => {
      auth = new ExecAuth();
    },
  };
};

/** Every plugin is told whom it speaks for in `KUBERNETES_EXEC_INFO`, which client-node leaves out. */
const environmentOf = (exec: ExecConfig, server: string): { name: string; value: string }[] => {
  const info = {
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server } },
  };
  return [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
};
