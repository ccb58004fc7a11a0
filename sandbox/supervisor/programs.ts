/** What runs beside OVS and OVN: API server, cluster manager, and per node a kubelet and the agent. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../kube/types.ts';
import { addressOf } from '../../net/cidr.ts';
import { DAEMON_OPTIONS } from '../../program/daemon-options.ts';
import { PROJECT_NAMESPACE } from '../api/kube/identities.ts';
import type { ApiAccess, NodeUser } from '../api/types.ts';
import { runEndpointSliceController } from '../control-plane/endpoint-slice-controller.ts';
import { runScheduler } from '../control-plane/scheduler.ts';
import { SandboxError } from '../errors.ts';
import { NODE_KUBECONFIGS, NODE_PROGRAM, OPT } from '../machine/node-root.ts';
import { inNamespace, type ManifestObject, readManifests } from '../objects/manifests.ts';
import { createObjects } from '../objects/objects.ts';
import { dnsAddresses, settingsEnvironment } from '../plan/cluster-settings.ts';
import type { HostPlan } from '../plan/netplan.ts';
import type { ProgramName } from '../plan/options.ts';
import { partReady } from '../process/parts.ts';
import { REPORT_FD, startService } from '../process/service.ts';
import { IMAGE_POLICY } from '../real-kubelet/image-policy.ts';
import { USERSPACE_POLICY } from '../real-kubelet/userspace-policy.ts';
import { addService, type ClusterContext, type ClusterState, logPath, machineNamed } from './cluster-context.ts';
import { startOnce } from './control-plane-services.ts';
import { startEmbeddedApi } from './embedded-api.ts';
import { startKubeApi } from './kube-api.ts';
import { kubeClient } from './kube-client.ts';
import { waitForNodeState } from './node-readiness.ts';
import { startNodeKubelet } from './real-kubelets.ts';

export interface Signals {
  /** Aborts when `up` gives up or the sandbox goes down. */
  readonly signal: AbortSignal;
  /** Aborts when the sandbox goes down. */
  readonly lifetime: AbortSignal;
}

const BUNDLES: Readonly<Record<ProgramName, string>> = {
  api: 'sandbox',
  kubelet: 'sandbox-kubelet',
  'cluster-manager': 'udn-cluster-manager',
  agent: 'udn-agent',
};

/** @throws SandboxError ERR_SANDBOX_MACHINE when a program that is requested was not built */
export const requirePrograms = ({ options, artifacts }: ClusterContext): void => {
  for (const program of options.programs) {
    const path = join(artifacts.dist, `${BUNDLES[program]}.mjs`);
    if (existsSync(path)) continue;
    throw new SandboxError('ERR_SANDBOX_MACHINE', `${path} is missing: run \`make build\``);
  }
};

/** Resolves when the API server answers, with how it is reached; undefined when there is none. */
export const startControlPlane = async (
  context: ClusterContext,
  state: ClusterState,
  { signal, lifetime }: Signals,
): Promise<ApiAccess | undefined> => {
  const { options, progress } = context;
  if (!options.programs.has('api')) return undefined;
  const start = options.api === 'kube' ? startKubeApi : startEmbeddedApi;
  const api = await start(context, state, signal);
  progress(options.api === 'kube' ? 'etcd and kube-apiserver answer' : 'the API server answers');
  // Real kubelets come with the scheduler and the controllers of Kubernetes.
  if (context.realKubelet === undefined) await startControllers(context, lifetime);
  const client = await kubeClient(context);
  try {
    await createObjects(client).apply(podPolicies(context));
    await installManifests(context, client, [...(options.definitions ? ['crds'] : []), ...api.manifests]);
  } finally {
    client.close();
  }
  if (options.programs.has('cluster-manager')) {
    startClusterManager(context, state, await api.clusterManagerKubeconfig());
  }
  return api;
};

const podPolicies = ({ options, realKubelet, datapath }: ClusterContext): readonly ManifestObject[] => [
  ...(realKubelet === undefined ? [] : IMAGE_POLICY),
  ...(options.ovn === 'pods' && datapath === 'netdev' ? USERSPACE_POLICY : []),
];

/** They have a client of their own, as long as they run. */
const startControllers = async (context: ClusterContext, lifetime: AbortSignal): Promise<void> => {
  const { onError } = context;
  const client = await kubeClient(context);
  const running = [
    runScheduler({ client, onError }, lifetime),
    runEndpointSliceController({ client, onError }, lifetime),
  ];
  void Promise.all(running).finally(() => client.close());
};

/** What a cluster's administrator applies before the programs start. @param parts of `daemonset/` */
const installManifests = async (
  { artifacts, progress }: ClusterContext,
  client: KubeClient,
  parts: readonly string[],
): Promise<void> => {
  const paths = parts.map((part) => join(artifacts.root, 'daemonset', part)).filter((path) => existsSync(path));
  const manifests = (await Promise.all(paths.map(readManifests))).flat();
  const applied = await createObjects(client).apply(inNamespace(manifests, PROJECT_NAMESPACE));
  const definitions = applied.filter((title) => title.startsWith('CustomResourceDefinition '));
  if (definitions.length > 0) progress(`${definitions.length} custom resource definitions installed`);
};

const startClusterManager = (context: ClusterContext, state: ClusterState, kubeconfig: string): void => {
  const { artifacts } = context;
  const bundle = join(artifacts.dist, `${BUNDLES['cluster-manager']}.mjs`);
  // The sandbox starts one, and when it has ended the next one need not wait until a Lease has run out.
  const args = [...DAEMON_OPTIONS, bundle, '--kubeconfig', kubeconfig, '--leader-elect', 'false'];
  startOnce(context, state, 'cluster-manager', { file: artifacts.node, args });
};

/** What a node's programs need. */
export interface NodePrograms {
  readonly api: ApiAccess | undefined;
  readonly signal: AbortSignal;
}

/** The kubelet and the agent of a node. Returns when they have been started. */
export const startNodePrograms = async (
  context: ClusterContext,
  state: ClusterState,
  host: HostPlan,
  { api, signal }: NodePrograms,
): Promise<void> => {
  const { options } = context;
  if (api === undefined) return;
  const node = machineNamed(state, host.name);
  const writeKubeconfig = async (user: NodeUser): Promise<void> => {
    const content = await api.nodeKubeconfig(user, host.name, signal);
    await writeFile(node.pathOf(NODE_KUBECONFIGS[user]), content, { mode: 0o600 });
  };
  const start = async (program: 'kubelet' | 'agent', cgroup: string, args: readonly string[]): Promise<void> => {
    if (!options.programs.has(program)) return;
    await writeKubeconfig(program);
    const bundle = `${OPT}/dist/${BUNDLES[program]}.mjs`;
    const nodeOptions = program === 'agent' ? DAEMON_OPTIONS : [];
    const argv = [NODE_PROGRAM, ...nodeOptions, bundle, '--kubeconfig', NODE_KUBECONFIGS[program]];
    const command = node.enter([...argv, ...args], { cgroup, env: settingsEnvironment(options), reportPid: REPORT_FD });
    addService(state, host.name, startService({ name: program, command, log: logPath(context, host.name, program) }));
  };
  await writeKubeconfig('administrator');
  if (context.realKubelet === undefined) {
    await start('kubelet', 'kubelet.slice/kubelet.service', [
      ...['--node', host.name],
      ...host.addresses.flatMap((address) => ['--address', addressOf(address)]),
      ...(options.dns === 'none' ? [] : dnsAddresses(options.ipFamily)).flatMap((ip) => ['--cluster-dns', ip]),
    ]);
  } else {
    await writeKubeconfig('kubelet');
    await startNodeKubelet(context, state, host);
  }
  await start('agent', 'system.slice/udn-agent.service', ['--node', host.name]);
};

/** Ready needs an agent: it is what makes the CNI plugin work. */
export const waitForNodes = async (
  context: ClusterContext,
  state: ClusterState,
  signal: AbortSignal,
): Promise<void> => {
  const { options, plan, progress } = context;
  if (!options.programs.has('kubelet')) return;
  const client = await kubeClient(context);
  const names = plan.nodes.map(({ name }) => name);
  const withAgent = options.programs.has('agent');
  const expected = withAgent ? 'Ready' : 'registered';
  const suspect = state.services.get(names[0] ?? '')?.find(({ name }) => name === (withAgent ? 'agent' : 'kubelet'));
  try {
    await partReady('a node', suspect?.log, waitForNodeState(client, names, expected, signal, progress));
  } finally {
    client.close();
  }
};
