/** The CNI plugin of a node, called as a container runtime calls it. */
import { CommandError } from '../../../../datapath/exec/errors.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

export const PLUGIN = '/opt/cni/bin/ovn-k8s-cni-overlay';
export const CONFIG = { cniVersion: '1.1.0', name: 'ovn-kubernetes', type: 'ovn-k8s-cni-overlay' };

export interface ShimCall {
  readonly command: string;
  readonly containerId?: string;
  readonly netns?: string;
  /** CNI_ARGS; a pod's are made by `podArguments`. */
  readonly args?: string;
  /** Standard input as it is. Default: `CONFIG`. */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ShimAnswer {
  readonly status: number;
  /** Standard output, which has to be JSON or nothing. */
  readonly body: { readonly code?: number; readonly msg?: string; readonly details?: string; readonly ips?: unknown[] };
  readonly milliseconds: number;
}

export const podArguments = (namespace: string, name: string, uid?: string): string =>
  [
    'IgnoreUnknown=1',
    `K8S_POD_NAMESPACE=${namespace}`,
    `K8S_POD_NAME=${name}`,
    ...(uid === undefined ? [] : [`K8S_POD_UID=${uid}`]),
  ].join(';');

export const callShim = async (sandbox: Pick<Sandbox, 'node'>, node: string, call: ShimCall): Promise<ShimAnswer> => {
  const env = {
    CNI_COMMAND: call.command,
    CNI_CONTAINERID: call.containerId ?? 'a'.repeat(64),
    CNI_NETNS: call.netns ?? '',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/opt/cni/bin',
    CNI_ARGS: call.args ?? '',
    ...call.env,
  };
  const argv = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), PLUGIN];
  const start = performance.now();
  const { status, stdout } = await sandbox
    .node(node, argv, { input: call.stdin ?? JSON.stringify(CONFIG), timeoutMs: 100_000 })
    .then(
      (output) => ({ status: 0, stdout: output.stdout }),
      (error: unknown) => {
        if (!(error instanceof CommandError) || error.exitCode === undefined) throw error;
        return { status: error.exitCode, stdout: error.stdout };
      },
    );
  return { status, body: stdout === '' ? {} : JSON.parse(stdout), milliseconds: performance.now() - start };
};
