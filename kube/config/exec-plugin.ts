/** Credential plugins (client.authentication.k8s.io): run one, and keep what it said until it expires. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { messageOf } from '../../base/error-message.ts';
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
  { server = '' }: { readonly server?: string | undefined },
): ExecPlugin => {
  let known: Promise<Status> | undefined;
  const run = (): Promise<Status> => {
    const running = runPlugin(exec, server).catch((cause: unknown) => {
      if (known === running) known = undefined;
      throw new KubeError('ERR_KUBE_CONFIG', `credential plugin ${exec.command}: ${messageOf(cause)}`, { cause });
    });
    return running;
  };
  return {
    credential: async () => {
      known ??= run();
      const { expirationTimestamp } = await known;
      if (expirationTimestamp != null && Date.parse(expirationTimestamp) <= Date.now()) known = run();
      const { token, clientCertificateData, clientKeyData } = await known;
      return { token: token || undefined, cert: clientCertificateData || undefined, key: clientKeyData || undefined };
    },
    forget: () => {
      known = undefined;
    },
  };
};

type Status = z.output<typeof credentialSchema>['status'];

const credentialSchema = z.object({
  status: z.object({
    token: z.string().nullish(),
    clientCertificateData: z.string().nullish(),
    clientKeyData: z.string().nullish(),
    expirationTimestamp: z.string().nullish(),
  }),
});

/** What `execFile` rejects with when the program has run. */
const exitSchema = z.object({ code: z.number(), stderr: z.string() });

const runPlugin = async (exec: ExecConfig, server: string): Promise<Status> => {
  const running = promisify(execFile)(exec.command, exec.args ?? [], { env: environmentOf(exec, server) });
  running.child.stdin?.end();
  const { stdout } = await running.catch((error: unknown) => {
    const { success, data } = exitSchema.safeParse(error);
    // Node's own message has the arguments in it, which may hold a secret.
    throw success ? new Error(data.stderr.trim() || `it ended with ${data.code}`) : error;
  });
  return readStatus(stdout);
};

/** No part of the text is in the error: it may be a credential. */
const readStatus = (text: string): Status => {
  try {
    return credentialSchema.parse(JSON.parse(text)).status;
  } catch {
    throw new Error('it printed no ExecCredential');
  }
};

/** Every plugin gets the server that it speaks for in `KUBERNETES_EXEC_INFO`. */
const environmentOf = (exec: ExecConfig, server: string): NodeJS.ProcessEnv => {
  const info = {
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server } },
  };
  const own = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
  return { ...process.env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
};
