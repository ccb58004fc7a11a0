/** The API server in memory: a program on this machine's network, which nodes reach through the underlay. */
import { addressOf } from '../../net/cidr.ts';
import { embeddedApi } from '../api/embedded.ts';
import { kubeconfigFor } from '../api/kubeconfig.ts';
import type { ApiAccess } from '../api/types.ts';
import { serviceSubnets } from '../plan/cluster-settings.ts';
import { API_PORT } from '../plan/netplan.ts';
import { partReady, unlessEnded } from '../process/parts.ts';
import { waitForPath } from '../process/wait-for-path.ts';
import { type ClusterContext, type ClusterState, nodeApiUrl, podApiUrl, UNDERLAY } from './cluster-context.ts';
import { startOnce } from './control-plane-services.ts';

/** Resolves when it answers. It lets everybody do everything. */
export const startEmbeddedApi = async (
  context: ClusterContext,
  state: ClusterState,
  signal: AbortSignal,
): Promise<ApiAccess> => {
  const { plan, folder, options, artifacts } = context;
  const command = embeddedApi(artifacts).command({
    kubeconfig: folder.kubeconfig,
    socket: folder.api,
    data: folder.apiData,
    serviceSubnets: serviceSubnets(options.ipFamily),
    endpoint: { addresses: plan.gateway.map(addressOf), port: API_PORT },
  });
  const api = startOnce(context, state, 'api', command);
  await partReady('the API server', api.log, unlessEnded(api, waitForPath(folder.kubeconfig, signal)));
  startForwarder(context, state);
  return {
    manifests: [],
    nodeKubeconfig: () => Promise.resolve(kubeconfigFor(nodeApiUrl(context, 'http'))),
    podKubeconfig: () => Promise.resolve(kubeconfigFor(podApiUrl(context, 'http'))),
    clusterManagerKubeconfig: () => Promise.resolve(folder.kubeconfig),
  };
};

/** So that it needs no address on this machine's networks. */
const startForwarder = (context: ClusterContext, state: ClusterState): void => {
  const { plan, folder, artifacts } = context;
  const listen = plan.gateway
    .map(addressOf)
    .map((ip) => (ip.includes(':') ? `[${ip}]:${API_PORT}` : `${ip}:${API_PORT}`));
  const args = ['proxy', ...listen, `unix:${folder.api}`];
  startOnce(context, state, 'forwarder', { file: artifacts.toolbox, args }, { machine: UNDERLAY });
};
