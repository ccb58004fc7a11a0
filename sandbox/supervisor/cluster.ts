/** A sandbox, owned by this process: when this process ends, however that happens, so does everything in it. */
import { unlessAborted } from '../../base/abort.ts';
import { createAuthority } from '../api/kube/certificate.ts';
import { findArtifacts } from '../artifacts.ts';
import { ensureCniPlugins } from '../cni-plugins/ensure.ts';
import { ensureCoredns } from '../coredns/ensure.ts';
import { SandboxError } from '../errors.ts';
import { ensureKonnectivity } from '../konnectivity/ensure.ts';
import { ensureKubernetes } from '../kubernetes/build.ts';
import { CONTROL_PLANE_PROGRAMS } from '../kubernetes/recipe.ts';
import { makeDatabases } from '../machine/databases.ts';
import { datapathOf, readFeatures } from '../machine/features.ts';
import { type NodeServicesSpec, startNodeServices } from '../machine/node-services.ts';
import { reboot } from '../machine/reboot.ts';
import { type HostPlan, planNetwork } from '../plan/netplan.ts';
import type { SandboxOptions } from '../plan/options.ts';
import { partReady } from '../process/parts.ts';
import { ensureRealKubelet } from '../real-kubelet/ensure.ts';
import { ensureTree } from '../tree/tree.ts';
import { addService, type ClusterContext, type ClusterState, logPath, machineNamed } from './cluster-context.ts';
import { clusterControl, type OwnedControl } from './cluster-control.ts';
import { startDns } from './dns.ts';
import { startKonnectivityAgents } from './konnectivity.ts';
import { startMachines } from './machines.ts';
import { requirePrograms, startControlPlane, startNodePrograms, waitForNodes } from './programs.ts';
import { startNodeRuntime } from './real-kubelets.ts';
import { claimWorkspace } from './workspace.ts';

export interface ClusterCallbacks {
  readonly progress?: ((message: string) => void) | undefined;
  /** Called with what goes wrong once the cluster is up. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** When it resolves while the cluster comes up, that is given up. */
  readonly stop?: Promise<void> | undefined;
}

/**
 * Brings a cluster up. When it fails, nothing is left of it.
 * @throws SandboxError with which part is not ready and the end of its log
 */
export const startCluster = async (
  options: SandboxOptions,
  { progress = () => {}, onError = () => {}, stop: stopped }: ClusterCallbacks = {},
): Promise<OwnedControl> => {
  const artifacts = findArtifacts();
  const tree = await ensureTree(progress);
  const isReal = options.api === 'kube' && options.programs.has('api');
  const kubernetes = isReal
    ? await ensureKubernetes(CONTROL_PLANE_PROGRAMS, { root: artifacts.root, progress })
    : undefined;
  const coredns = options.dns === 'coredns' ? await ensureCoredns({ root: artifacts.root, progress }) : undefined;
  const konnectivity =
    options.egress === 'konnectivity' ? await ensureKonnectivity({ root: artifacts.root, progress }) : undefined;
  // A guest has no sources to build from.
  const cniPlugins =
    options.cniPlugins.length > 0 ? await ensureCniPlugins(options.cniPlugins, { root: artifacts.root, progress }) : {};
  const withDns = coredns !== undefined;
  const realKubelet = options.kubelet === 'real' ? await ensureRealKubelet(artifacts, withDns, progress) : undefined;
  const { folder, cgroup, janitor } = await claimWorkspace(options.name, artifacts);
  const state: ClusterState = { phase: 'starting', machines: new Map(), starting: new Set(), services: new Map() };
  const stop = new AbortController();
  void stopped?.then(() => stop.abort(new SandboxError('ERR_SANDBOX_PART', 'stopped')));
  const down = async (): Promise<void> => {
    stop.abort();
    for (const service of [...state.services.values()].flat()) service.abandon();
    await Promise.allSettled(state.starting);
    await janitor.clean();
  };
  try {
    const context = await makeContext(options, {
      artifacts,
      folder,
      tree,
      kubernetes,
      realKubelet,
      coredns,
      cniPlugins,
      konnectivity,
      authority: options.encryption === 'ipsec' ? createAuthority('tunnels', Date.now()) : undefined,
      cgroup,
      progress,
      onError,
    });
    requirePrograms(context);
    const control = await clusterControl(context, state, {
      tearDown: down,
      reboot: (node) => rebootNode(context, state, node, stop.signal),
    });
    await unlessAborted(stop.signal, bringUp(context, state, stop.signal));
    state.phase = 'up';
    return control;
  } catch (error) {
    state.phase = 'failed';
    await down();
    throw error;
  }
};

const makeContext = async (
  options: SandboxOptions,
  given: Omit<ClusterContext, 'options' | 'features' | 'datapath' | 'plan'>,
): Promise<ClusterContext> => {
  const features = await readFeatures(given.artifacts.toolbox);
  return {
    ...given,
    options,
    features,
    datapath: datapathOf(features),
    plan: planNetwork(options.ipFamily, options.nodes),
  };
};

const bringUp = async (context: ClusterContext, state: ClusterState, lifetime: AbortSignal): Promise<void> => {
  const { options, progress, datapath, folder, tree, plan } = context;
  const signal = AbortSignal.any([lifetime, AbortSignal.timeout(options.timeoutSeconds * 1000)]);
  progress(`${options.nodes} nodes with ${datapath === 'system' ? "the kernel's" : 'the userspace'} datapath`);
  await Promise.all([
    partReady('the network', undefined, unlessAborted(signal, startMachines(context, state, signal))),
    makeDatabases(tree, folder.databases),
  ]);
  const controlPlane = startControlPlane(context, state, { signal, lifetime });
  await Promise.all([
    controlPlane,
    ...plan.nodes.map(async (host) => {
      await startNodeServices(nodeServicesSpec(context, state, host, lifetime), signal);
      progress(options.ovn === 'pods' ? `${host.name}: its network is there` : `${host.name}: OVS and OVN run`);
      await startNodeRuntime(context, state, host, signal);
      const api = await controlPlane;
      await startNodePrograms(context, state, host, { api, signal });
    }),
  ]);
  await waitForNodes(context, state, signal);
  await startDns(context, await controlPlane, signal);
  await startKonnectivityAgents(context, signal);
};

const rebootNode = async (
  context: ClusterContext,
  state: ClusterState,
  name: string,
  lifetime: AbortSignal,
): Promise<void> => {
  const host = context.plan.nodes.find((node) => node.name === name);
  if (host === undefined) return;
  const signal = AbortSignal.any([lifetime, AbortSignal.timeout(context.options.timeoutSeconds * 1000)]);
  await reboot(nodeServicesSpec(context, state, host, lifetime), state.services.get(name) ?? [], signal);
};

const nodeServicesSpec = (
  context: ClusterContext,
  state: ClusterState,
  host: HostPlan,
  lifetime: AbortSignal,
): NodeServicesSpec => ({
  node: machineNamed(state, host.name),
  host,
  lifetime,
  plan: context.plan,
  datapath: context.datapath,
  uplink: context.options.uplink,
  ovn: context.options.ovn,
  hasRuntime: context.realKubelet !== undefined,
  authority: context.authority,
  databases: context.folder.databases,
  logOf: (program) => logPath(context, host.name, program),
  onService: (service) => addService(state, host.name, service),
  onError: context.onError,
});
