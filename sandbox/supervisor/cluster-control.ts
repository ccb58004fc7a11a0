/** What can be done with a cluster that this process owns, here and through its socket. */
import { messageOf } from '../../base/error-message.ts';
import { SandboxError } from '../errors.ts';
import { type PodTarget, podCommand } from '../kubelet/exec-info.ts';
import { NODE_KUBECONFIG } from '../machine/node-root.ts';
import type { CommandLine, EnterOptions } from '../machine/types.ts';
import { CONTROL_PLANE } from '../plan/daemons.ts';
import { defaultContainer } from '../real-kubelet/default-container.ts';
import { realPodCommand } from '../real-kubelet/exec-info.ts';
import { type ClusterContext, type ClusterState, machineNamed, OUTSIDE, SERVICES } from './cluster-context.ts';
import { serveControl } from './control-server.ts';
import { kubeClient } from './kube-client.ts';
import type { Control, NodeStatus, SandboxStatus, Target } from './types.ts';

/** A sandbox of this process. */
export interface OwnedControl extends Control {
  /** Resolves when it is down and whoever asked for that has been answered. */
  readonly ended: Promise<void>;
}

export interface ClusterActions {
  readonly tearDown: () => Promise<void>;
  /** Of a node that there is. */
  readonly reboot: (node: string) => Promise<void>;
}

export const clusterControl = async (
  context: ClusterContext,
  state: ClusterState,
  { tearDown, reboot }: ClusterActions,
): Promise<OwnedControl> => {
  const ended = Promise.withResolvers<void>();
  const control: OwnedControl = {
    ended: ended.promise,
    name: context.options.name,
    status: () => Promise.resolve(statusOf(context, state)),
    enter: (target, argv, options) => enterTarget(context, state, target, argv, options),
    kill: (node, program, signal) => new Promise((resolve) => resolve(killProgram(state, node, program, signal))),
    reboot: async (node) => {
      nodeNamed(context, state, node);
      if (context.options.ovn === 'pods') {
        throw new SandboxError('ERR_SANDBOX_NOT_YET', 'rebooting a node with OVN in pods is not supported yet');
      }
      await reboot(node);
    },
    down: async () => {
      await tearDown();
      void close().then(ended.resolve);
    },
  };
  const close = await serveControl(context.folder.control, control);
  return control;
};

const statusOf = (context: ClusterContext, state: ClusterState): SandboxStatus => {
  const { options, artifacts, folder, plan, datapath, features } = context;
  return {
    name: options.name,
    state: state.phase,
    version: artifacts.version,
    ipFamily: options.ipFamily,
    gatewayMode: options.gatewayMode,
    datapath,
    kernel: features,
    guest: undefined,
    kubeconfig: options.programs.has('api') ? folder.kubeconfig : undefined,
    folder: folder.path,
    outside: plan.outside.addresses,
    nodes: plan.nodes.map(
      ({ name, addresses }): NodeStatus => ({
        name,
        addresses,
        pid: state.machines.get(name)?.pid,
        services: servicesOf(state, name),
      }),
    ),
    services: servicesOf(state, SERVICES),
  };
};

const servicesOf = ({ services }: ClusterState, machine: string): NodeStatus['services'] =>
  (services.get(machine) ?? []).map((service) => service.status());

const enterTarget = async (
  context: ClusterContext,
  state: ClusterState,
  target: Target,
  argv: readonly string[],
  options: Pick<EnterOptions, 'env' | 'workdir'> = {},
): Promise<CommandLine> => {
  switch (target.kind) {
    case 'outside':
      return machineNamed(state, OUTSIDE).enter(argv, options);
    case 'node': {
      const env = { KUBECONFIG: NODE_KUBECONFIG, ...options.env };
      return nodeNamed(context, state, target.node).enter(argv, { ...options, env });
    }
    case 'pod': {
      const nodes = context.plan.nodes.map(({ name }) => machineNamed(state, name));
      const find = context.realKubelet === undefined ? podCommand : realPodCommand;
      const { node, prefix } = await find(nodes, await withContainer(context, target));
      // The pod's environment is in the prefix; what comes with the call is added by the innermost command.
      const added = Object.entries(options.env ?? {}).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
      return node.enter([...prefix, ...added, '--', ...argv]);
    }
  }
};

/** The stand-in's own list has the order of the specification. */
const withContainer = async (context: ClusterContext, target: PodTarget): Promise<PodTarget> => {
  if (context.realKubelet === undefined || target.container !== undefined) return target;
  const client = await kubeClient(context);
  try {
    return { ...target, container: await defaultContainer(client, target) };
  } finally {
    client.close();
  }
};

const nodeNamed = ({ plan }: ClusterContext, state: ClusterState, name: string) => {
  if (!plan.nodes.some((node) => node.name === name)) {
    const known = plan.nodes.map((node) => node.name).join(', ');
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `there is no node "${name}", only ${known}`);
  }
  return machineNamed(state, name);
};

const killProgram = (state: ClusterState, node: string, program: string, signal: NodeJS.Signals | number): void => {
  const services = node === SERVICES ? undefined : state.services.get(node === CONTROL_PLANE ? SERVICES : node);
  if (services === undefined) {
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `there is no node "${node}", and it is not ${CONTROL_PLANE}`);
  }
  const service = services.find(({ name }) => name === program);
  if (service === undefined) {
    const names = services.map(({ name }) => name).join(', ');
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `${node} runs no "${program}", only ${names}`);
  }
  if (!trySignal(() => service.kill(signal))) {
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `${program} of ${node} does not run right now`);
  }
};

const trySignal = (send: () => boolean): boolean => {
  try {
    return send();
  } catch (cause) {
    throw new SandboxError('ERR_SANDBOX_USAGE', `the signal was not sent: ${messageOf(cause)}`, { cause });
  }
};
