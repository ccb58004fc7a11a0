/** containerd and a real kubelet on every node, where they are requested. */
import { readFile } from 'node:fs/promises';
import { addressOf } from '../../net/cidr.ts';
import { kubePaths } from '../api/kube/paths.ts';
import { dnsAddresses } from '../plan/cluster-settings.ts';
import type { HostPlan } from '../plan/netplan.ts';
import { type KubeletSpec, startContainerd, startRealKubelet } from '../real-kubelet/start.ts';
import { addService, type ClusterContext, type ClusterState, logPath, machineNamed } from './cluster-context.ts';

/** Resolves when pods could be started, at once where no real kubelet is requested. */
export const startNodeRuntime = async (
  context: ClusterContext,
  state: ClusterState,
  host: HostPlan,
  signal: AbortSignal,
): Promise<void> => {
  if (context.realKubelet === undefined || !context.options.programs.has('kubelet')) return;
  const { images } = context.realKubelet;
  await startContainerd({ ...workspaceOf(context, state, host), images }, signal);
};

/** With the kubeconfig that is on the node already. */
export const startNodeKubelet = async (context: ClusterContext, state: ClusterState, host: HostPlan): Promise<void> => {
  const { options, folder } = context;
  if (!options.programs.has('kubelet')) return;
  await startRealKubelet({
    ...workspaceOf(context, state, host),
    host: { name: host.name, addresses: host.addresses.map(addressOf) },
    clusterDns: dnsAddresses(options.ipFamily),
    authority: await readFile(kubePaths(folder.apiData).authority, 'utf8'),
  });
};

const workspaceOf = (
  context: ClusterContext,
  state: ClusterState,
  { name }: HostPlan,
): Pick<KubeletSpec, 'node' | 'logOf' | 'onService'> => ({
  node: machineNamed(state, name),
  logOf: (program) => logPath(context, name, program),
  onService: (service) => addService(state, name, service),
});
