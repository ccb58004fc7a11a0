/** The sandbox as a library: for end-to-end tests, the demo and benchmarks. */
import type { CommandOutput } from '../datapath/exec/types.ts';
import type { KubeClient } from '../kube/types.ts';
import { clientOf } from './objects/client.ts';
import { createObjects, type Objects } from './objects/objects.ts';
import type { KillableName } from './plan/daemons.ts';
import { parseOptions, type SandboxOptionsInput } from './plan/options.ts';
import { commandRunner } from './process/runner.ts';
import type { ClusterCallbacks } from './supervisor/cluster.ts';
import { connectControl } from './supervisor/control-client.ts';
import { startOnKernel } from './supervisor/start.ts';
import type { Control, SandboxStatus, Target } from './supervisor/types.ts';

export { SandboxError } from './errors.ts';
export type { ManifestObject } from './objects/manifests.ts';
export { API_KINDS, type ApiKind, KUBELET_KINDS, type KubeletKind } from './plan/options.ts';
export type { KillableName, Objects, SandboxOptionsInput, SandboxStatus };

export interface RunOptions {
  /** For the command's stdin. */
  readonly input?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** On this machine's own kernel: a guest, which is slower, gets more. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A running cluster. Commands reject with CommandError (exitCode, stdout, stderr) unless they exit with status 0. */
export interface Sandbox extends AsyncDisposable {
  readonly name: string;
  /** On a node, as its host network: ip, nft, ovs-vsctl, ovn-nbctl, udnctl. */
  node(node: string, argv: readonly string[], options?: RunOptions): Promise<CommandOutput>;
  /** On the host outside the cluster. */
  outside(argv: readonly string[], options?: RunOptions): Promise<CommandOutput>;
  /** In a pod, `NAMESPACE/NAME`. */
  exec(pod: string, argv: readonly string[], options?: RunOptions): Promise<CommandOutput>;
  /** `apply`, `delete`, `get`, `list`, `wait`. Throws when there is no API server. */
  objects(): Promise<Objects>;
  /** Of the cluster's API server. Closed with the sandbox. */
  client(): Promise<KubeClient>;
  /** @param node or `control-plane`: `api`, `cluster-manager`. Default signal: SIGTERM. What was ended is started again. */
  kill(node: string, program: KillableName, signal?: NodeJS.Signals | number): Promise<void>;
  /** A power cut: what ran on the node is gone, and what its kernel, OVS and OVN had. Resolves when it starts again. */
  reboot(node: string): Promise<void>;
  status(): Promise<SandboxStatus>;
  /** How many times longer things take than on this machine's own kernel, about: what deadlines are multiplied by. */
  slowdown(): Promise<number>;
  /** Resolves when nothing is left. */
  down(): Promise<void>;
}

/**
 * Starts a cluster that this process owns: it ends with this process, however that ends.
 * @throws SandboxError
 */
export const startSandbox = async (
  options: SandboxOptionsInput = {},
  callbacks: ClusterCallbacks = {},
): Promise<Sandbox> => sandboxOf(await startOnKernel(parseOptions(options), callbacks));

/** A cluster of another process, for example of `sandbox up`. Nothing is asked of it yet. */
export const openSandbox = (name = 'default'): Sandbox => sandboxOf(connectControl(name));

const DEFAULT_TIMEOUT_MS = 30_000;

const sandboxOf = (control: Control): Sandbox => {
  let connected: Promise<KubeClient> | undefined;
  const client = (): Promise<KubeClient> => {
    connected ??= control.status().then(clientOf);
    return connected;
  };
  let measured: Promise<number> | undefined;
  const slowdown = (): Promise<number> => {
    measured ??= control.status().then(({ guest }) => guest?.slowdown ?? 1);
    return measured;
  };
  const runIn = async (target: Target, argv: readonly string[], options: RunOptions = {}): Promise<CommandOutput> => {
    const { input, env, timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
    const command = await control.enter(target, argv, env === undefined ? {} : { env });
    const limits = { ...(input === undefined ? {} : { input }), timeoutMs: timeoutMs * (await slowdown()) };
    return await commandRunner().run({ ...command, ...limits }, signal);
  };
  const down = async (): Promise<void> => {
    (await connected?.catch(() => undefined))?.close();
    await control.down();
  };
  return {
    name: control.name,
    node: (node, argv, options) => runIn({ kind: 'node', node }, argv, options),
    outside: (argv, options) => runIn({ kind: 'outside' }, argv, options),
    exec: (pod, argv, options) => {
      const [namespace = '', name = ''] = pod.split('/');
      return runIn({ kind: 'pod', namespace, pod: name }, argv, options);
    },
    objects: async () => createObjects(await client(), await slowdown()),
    client,
    kill: (node, program, signal = 'SIGTERM') => control.kill(node, program, signal),
    reboot: (node) => control.reboot(node),
    status: () => control.status(),
    slowdown,
    down,
    [Symbol.asyncDispose]: down,
  };
};
