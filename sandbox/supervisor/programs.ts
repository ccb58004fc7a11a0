/** What runs beside OVS and OVN: API server, cluster manager, and per node a kubelet and the agent. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import type { KubeClient } from '../../kube/types.ts';
import { addressOf } from '../../net/cidr.ts';
import { embeddedApi } from '../api/embedded.ts';
import { kubeconfigFor } from '../api/kubeconfig.ts';
import { runEndpointSliceController } from '../control-plane/endpoint-slice-controller.ts';
import { runScheduler } from '../control-plane/scheduler.ts';
import { SandboxError } from '../errors.ts';
import { NODE_KUBECONFIG, NODE_PROGRAM, OPT } from '../machine/node-root.ts';
import type { CommandLine } from '../machine/types.ts';
import { readManifests } from '../objects/manifests.ts';
import { createObjects } from '../objects/objects.ts';
import { serviceSubnets, settingsEnvironment } from '../plan/cluster-settings.ts';
import { API_PORT, type HostPlan } from '../plan/netplan.ts';
import type { ProgramName } from '../plan/options.ts';
import { before, partReady, unlessEnded } from '../process/parts.ts';
import { REPORT_FD, type Service, startService } from '../process/service.ts';
import { waitForPath } from '../process/wait-for-path.ts';
import {
  addService,
  type ClusterContext,
  type ClusterState,
  logPath,
  machineNamed,
  SERVICES,
  UNDERLAY,
} from './cluster-context.ts';
import { waitForNodesReady, waitForNodesRegistered } from './node-readiness.ts';

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

/** @throws SandboxError ERR_SANDBOX_MACHINE when a program that is wanted was not built */
export const requirePrograms = ({ options, artifacts }: ClusterContext): void => {
  for (const program of options.programs) {
    const path = join(artifacts.dist, `${BUNDLES[program]}.mjs`);
    if (existsSync(path)) continue;
    throw new SandboxError('ERR_SANDBOX_MACHINE', `${path} is missing: run \`make build\``);
  }
};

/** Resolves when the API server answers. */
export const startControlPlane = async (
  context: ClusterContext,
  state: ClusterState,
  { signal, lifetime }: Signals,
): Promise<void> => {
  const { options, folder, progress, onError } = context;
  if (!options.programs.has('api')) return;
  const api = startApi(context, state);
  const ready = waitForPath(folder.kubeconfig, signal);
  await partReady('the API server', api.log, unlessEnded(api, ready));
  progress('the API server answers');
  startForwarder(context, state);
  const client = await kubeClient(context);
  void runScheduler({ client, onError }, lifetime);
  void runEndpointSliceController({ client, onError }, lifetime);
  await installDefinitions(context, client);
  if (options.programs.has('cluster-manager')) startClusterManager(context, state);
};

/** What a cluster's administrator applies before the programs start. */
const installDefinitions = async ({ artifacts, progress }: ClusterContext, client: KubeClient): Promise<void> => {
  const folder = join(artifacts.root, 'daemonset', 'crds');
  if (!existsSync(folder)) return;
  const applied = await createObjects(client).apply(await readManifests(folder));
  if (applied.length > 0) progress(`${applied.length} custom resource definitions installed`);
};

const startApi = (context: ClusterContext, state: ClusterState): Service => {
  const { plan, folder, options, artifacts } = context;
  const command = embeddedApi(artifacts).command({
    kubeconfig: folder.kubeconfig,
    socket: folder.api,
    data: folder.apiData,
    serviceSubnets: serviceSubnets(options.ipFamily),
    endpoint: { addresses: plan.gateway.map(addressOf), port: API_PORT },
  });
  return startOnce(context, state, 'api', command);
};

/** Nodes reach the API server through the underlay, so that it needs no address on this machine's networks. */
const startForwarder = (context: ClusterContext, state: ClusterState): void => {
  const { plan, folder, artifacts } = context;
  const listen = plan.gateway
    .map(addressOf)
    .map((ip) => (ip.includes(':') ? `[${ip}]:${API_PORT}` : `${ip}:${API_PORT}`));
  const command = machineNamed(state, UNDERLAY).enter([artifacts.toolbox, 'proxy', ...listen, `unix:${folder.api}`], {
    reportPid: REPORT_FD,
  });
  const log = logPath(context, SERVICES, 'forwarder');
  addService(state, SERVICES, startService({ name: 'forwarder', command, log }));
};

const startClusterManager = (context: ClusterContext, state: ClusterState): void => {
  const { artifacts, folder } = context;
  const bundle = join(artifacts.dist, `${BUNDLES['cluster-manager']}.mjs`);
  startOnce(context, state, 'cluster-manager', {
    file: artifacts.node,
    args: [bundle, '--kubeconfig', folder.kubeconfig],
  });
};

/** On this machine's network, but in a pid namespace that ends with the sandbox. */
const startOnce = (
  context: ClusterContext,
  state: ClusterState,
  name: string,
  { file, args }: CommandLine,
): Service => {
  const command = machineNamed(state, SERVICES).enter([file, ...args], {
    cgroup: `${name}.service`,
    env: settingsEnvironment(context.options),
    reportPid: REPORT_FD,
  });
  const service = startService({ name, command, log: logPath(context, SERVICES, name) });
  addService(state, SERVICES, service);
  return service;
};

/** The kubelet and the agent of a node. Returns when they have been started. */
export const startNodePrograms = async (
  context: ClusterContext,
  state: ClusterState,
  host: HostPlan,
): Promise<void> => {
  const { options, plan } = context;
  const node = machineNamed(state, host.name);
  const [gateway] = plan.gateway.map(addressOf);
  if (options.programs.has('api')) {
    const server = gateway?.includes(':') ? `[${gateway}]` : gateway;
    await writeFile(node.pathOf(NODE_KUBECONFIG), kubeconfigFor(`http://${server}:${API_PORT}`));
  }
  const start = (program: 'kubelet' | 'agent', cgroup: string, args: readonly string[]): void => {
    if (!options.programs.has(program)) return;
    const argv = [NODE_PROGRAM, `${OPT}/dist/${BUNDLES[program]}.mjs`, '--kubeconfig', NODE_KUBECONFIG, ...args];
    const command = node.enter(argv, { cgroup, env: settingsEnvironment(options), reportPid: REPORT_FD });
    addService(state, host.name, startService({ name: program, command, log: logPath(context, host.name, program) }));
  };
  start('kubelet', 'kubelet.slice/kubelet.service', [
    ...['--node', host.name],
    ...host.addresses.flatMap((address) => ['--address', addressOf(address)]),
  ]);
  start('agent', 'system.slice/udn-agent.service', ['--node', host.name]);
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
  const wait = withAgent ? waitForNodesReady : waitForNodesRegistered;
  const suspect = state.services.get(names[0] ?? '')?.find(({ name }) => name === (withAgent ? 'agent' : 'kubelet'));
  try {
    await partReady('a node', suspect?.log, before(signal, wait(client, names, signal, progress)));
  } finally {
    client.close();
  }
};

const kubeClient = async ({ folder, artifacts }: ClusterContext): Promise<KubeClient> => {
  const connection = await loadConnection({ kubeconfig: folder.kubeconfig, env: {} });
  return connect(connection, { userAgent: `sandbox/${artifacts.version}` });
};
