/**
 * A node with everything real on it but a kubelet: OVS, OVN, an API server, the cluster manager and the agent. Who
 * benchmarks takes the kubelet's place.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import {
  type KillableName,
  type RunOptions,
  type Sandbox,
  type SandboxOptionsInput,
  startSandbox,
} from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { CNI_CONF } from '../../sandbox/machine/node-root.ts';
import { waitForPath } from '../../sandbox/process/wait-for-path.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';

export const NODE = 'node-1';

export interface BenchNode extends AsyncDisposable {
  readonly client: KubeClient;
  /** Where a file of the node is seen from here. */
  pathOf(path: string): string;
  /** The command line, of this machine, that runs a command on the node. */
  enter(argv: readonly string[]): [file: string, args: string[]];
  /** Runs a command on the node; @returns what it printed */
  run(argv: readonly string[], options?: Pick<RunOptions, 'input' | 'timeoutMs'>): Promise<string>;
  /** Of a program of the node, as this machine sees it. */
  pidOf(program: string): Promise<number>;
  /** The program stands still from now on. */
  hold(program: KillableName): Promise<void>;
  /** Resolves when another agent answers. */
  restartAgent(): Promise<void>;
}

/**
 * Resolves when the agent is ready for CNI.
 * @param prepare what is to be in the API before this node is @param more of the sandbox
 */
export const startBenchNode = async (
  name: string,
  signal: AbortSignal,
  prepare: (client: KubeClient) => Promise<void> = () => Promise.resolve(),
  more: Pick<SandboxOptionsInput, 'api' | 'cniPlugins' | 'settings'> = {},
): Promise<BenchNode> => {
  signal.throwIfAborted();
  // A real API server takes what an agent writes whose credentials are bound to the Node that a kubelet has registered.
  const registrar = more.api === 'kube' ? 'kubelet,' : '';
  const sandbox = await startSandbox({ name, nodes: 1, programs: `${registrar}cluster-manager,agent`, ...more });
  const down = (): void => void sandbox.down();
  signal.addEventListener('abort', down, { once: true });
  try {
    const node = await openNode(sandbox);
    await prepare(node.client);
    if (registrar === '') await registerNode(sandbox, node.client);
    else await node.hold('kubelet');
    await waitForPath(node.pathOf(CNI_CONF_PATH), AbortSignal.any([signal, AbortSignal.timeout(READY_MS)]));
    return {
      ...node,
      [Symbol.asyncDispose]: async () => {
        signal.removeEventListener('abort', down);
        node.client.close();
        await takeDown(sandbox);
      },
    };
  } catch (error) {
    await sandbox.down();
    throw error;
  }
};

/** @throws Error when something is left of it */
const takeDown = async (sandbox: Sandbox): Promise<void> => {
  const namespaces = await namespacesOf(sandbox.name);
  await sandbox.down();
  await untilNothingIsLeft(sandbox.name, namespaces);
};

/** The agent writes it when pods can be added. */
export const CNI_CONF_PATH = join(CNI_CONF, '10-ovn-kubernetes.conflist');
const READY_MS = 60_000;

/** Takes the configuration away when the agent has ended, which puts back what is missing; the next one writes it when it is ready. */
const restartAgent = async (sandbox: Sandbox, pathOf: (path: string) => string): Promise<void> => {
  const configuration = pathOf(CNI_CONF_PATH);
  const ended = await pidOf(sandbox, 'agent');
  await sandbox.kill(NODE, 'agent', 'SIGTERM');
  await eventually(async () => {
    const pid = await pidOf(sandbox, 'agent');
    if (pid === undefined || pid === ended) throw new Error('the agent has not been started again');
  }, READY_MS);
  await rm(configuration, { force: true });
  await waitForPath(configuration, AbortSignal.timeout(READY_MS));
};

const pidOf = async (sandbox: Sandbox, program: string): Promise<number | undefined> => {
  const { nodes } = await sandbox.status();
  return nodes[0]?.services.find(({ name }) => name === program)?.pid;
};

const openNode = async (sandbox: Sandbox): Promise<Omit<BenchNode, typeof Symbol.asyncDispose>> => {
  const { nodes, kubeconfig } = await sandbox.status();
  const connection = await loadConnection({ kubeconfig, env: {} });
  const root = `/proc/${nodes[0]?.pid}/root`;
  return {
    client: connect(connection, { userAgent: 'bench' }),
    pathOf: (path) => join(root, path),
    enter: (argv) => [findArtifacts().toolbox, ['enter', '--target', String(nodes[0]?.pid), '--', ...argv]],
    run: async (argv, options) => (await sandbox.node(NODE, argv, options)).stdout,
    pidOf: async (program) => {
      const pid = await pidOf(sandbox, program);
      if (pid === undefined) throw new Error(`${program} does not run`);
      return pid;
    },
    hold: (program) => sandbox.kill(NODE, program, 'SIGSTOP'),
    restartAgent: () => restartAgent(sandbox, (path) => join(root, path)),
  };
};

/** What the kubelet would do. */
const registerNode = async (sandbox: Sandbox, client: KubeClient): Promise<void> => {
  const { nodes } = await sandbox.status();
  const addresses = (nodes[0]?.addresses ?? []).map((address) => ({
    type: 'InternalIP',
    address: address.split('/')[0],
  }));
  await client.create(NODES, { metadata: { name: NODE } });
  await client.patch(
    NODES,
    { name: NODE },
    { type: 'merge', body: { status: { addresses } } },
    { subresource: 'status' },
  );
};
