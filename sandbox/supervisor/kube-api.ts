/**
 * A real API server: etcd, kube-apiserver and a controller manager on the router of the node network, where nodes reach
 * them and they reach nodes. This machine has a forwarded port to it, a port of 127.0.0.1.
 */
import { rename, writeFile } from 'node:fs/promises';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import type { ClusterConnection } from '../../kube/config/types.ts';
import type { KubeClient } from '../../kube/types.ts';
import { addressOf } from '../../net/cidr.ts';
import { openDataFolder } from '../api/data-folder.ts';
import {
  apiServerCommand,
  controllerManagerCommand,
  etcdCommand,
  schedulerCommand,
} from '../api/kube/command-lines.ts';
import { type ClusterCredentials, makeCredentials } from '../api/kube/credentials.ts';
import {
  ADMINISTRATOR,
  AGENT_ACCOUNT,
  CLUSTER_MANAGER_ACCOUNT,
  KONNECTIVITY_SERVER,
  kubeletOf,
} from '../api/kube/identities.ts';
import { kubePaths } from '../api/kube/paths.ts';
import { untilAccount, untilReady } from '../api/kube/readiness.ts';
import { requestToken } from '../api/kube/tokens.ts';
import type { ApiAccess } from '../api/types.ts';
import { SandboxError } from '../errors.ts';
import { KONNECTIVITY_AUDIENCE } from '../konnectivity/settings.ts';
import { apiAddresses, serviceSubnets } from '../plan/cluster-settings.ts';
import { API_PORT } from '../plan/netplan.ts';
import { partReady, unlessEnded } from '../process/parts.ts';
import type { Service } from '../process/service.ts';
import { type ClusterContext, type ClusterState, nodeApiUrl, podApiUrl, UNDERLAY } from './cluster-context.ts';
import { startOnce } from './control-plane-services.ts';
import { startKonnectivityServer } from './konnectivity.ts';
import { waitForNodeState } from './node-readiness.ts';

/** Resolves when it answers and pods can be made. */
export const startKubeApi = async (
  context: ClusterContext,
  state: ClusterState,
  signal: AbortSignal,
): Promise<ApiAccess> => {
  const { folder, kubernetes } = context;
  if (kubernetes === undefined) throw new SandboxError('ERR_SANDBOX_MACHINE', 'the programs of Kubernetes are missing');
  const paths = kubePaths(folder.apiData);
  const { port } = await openDataFolder(folder.apiData);
  const server = nodeApiUrl(context, 'https');
  const serverNames = serverNamesOf(context);
  const credentials = await makeCredentials({ paths, server, serverNames, now: Date.now() });
  const outside = credentials.kubeconfig(`https://127.0.0.1:${port}`, ADMINISTRATOR);
  await writeFile(paths.administratorKubeconfig, outside, { mode: 0o600 });
  const connection = await loadConnection({ kubeconfig: paths.administratorKubeconfig, env: {} });
  const etcd = startOnce(context, state, 'etcd', etcdCommand(kubernetes.etcd, paths), { machine: UNDERLAY });
  await startKonnectivityServer(context, state, credentials.kubeconfig(server, KONNECTIVITY_SERVER));
  const api = startApiServer(context, state);
  startForwarding(context, state, port);
  const ready = untilReady(connection, signal);
  await Promise.all([
    partReady('the API server', api.log, unlessEnded(api, ready)),
    partReady('etcd', etcd.log, unlessEnded(etcd, ready)),
  ]);
  const scope = context.realKubelet === undefined ? 'few' : 'all';
  const manager = controllerManagerCommand(kubernetes['kube-controller-manager'], paths, scope);
  const controllers = startOnce(context, state, 'controller-manager', manager, { machine: UNDERLAY });
  if (context.realKubelet !== undefined) {
    const scheduler = schedulerCommand(context.realKubelet.scheduler, paths);
    startOnce(context, state, 'scheduler', scheduler, { machine: UNDERLAY });
  }
  const reachable = withClient(context, connection);
  const open = reachable((client) => untilAccount(client, 'default', signal));
  await partReady('the controller manager', controllers.log, unlessEnded(controllers, open));
  // Who waits for it finds a server that answers.
  await rename(paths.administratorKubeconfig, folder.kubeconfig);
  return accessOf(context, { server, apiServer: connection.server, credentials, reachable });
};

/** Runs something with a client of its own: what is asked of the server here is asked once. */
type Reachable = <T>(use: (client: KubeClient) => Promise<T>) => Promise<T>;

const withClient =
  ({ artifacts }: ClusterContext, connection: ClusterConnection): Reachable =>
  async (use) => {
    const client = connect(connection, { userAgent: `sandbox/${artifacts.version}` });
    try {
      return await use(client);
    } finally {
      client.close();
    }
  };

const startApiServer = (context: ClusterContext, state: ClusterState): Service => {
  const { folder, kubernetes, konnectivity, plan, options } = context;
  const paths = kubePaths(folder.apiData);
  const [gateway] = plan.gateway.map(addressOf);
  if (kubernetes === undefined || gateway === undefined) throw new TypeError('the underlay has no address');
  const command = apiServerCommand({
    ...{ program: kubernetes['kube-apiserver'], paths, port: API_PORT },
    ...{ advertise: gateway, serviceSubnets: serviceSubnets(options.ipFamily) },
    egress: konnectivity && { configuration: paths.egressConfiguration, audience: KONNECTIVITY_AUDIENCE },
  });
  return startOnce(context, state, 'api', command, { machine: UNDERLAY });
};

/** From this machine's network into the underlay's, which have no link between them. */
const startForwarding = (context: ClusterContext, state: ClusterState, port: number): void => {
  const { artifacts, folder } = context;
  const proxy = (from: string, to: string) => ({ file: artifacts.toolbox, args: ['proxy', from, to] });
  const socket = `unix:${folder.api}`;
  startOnce(context, state, 'forwarder', proxy(socket, `127.0.0.1:${API_PORT}`), { machine: UNDERLAY });
  startOnce(context, state, 'door', proxy(`127.0.0.1:${port}`, socket));
};

const serverNamesOf = ({ plan, options }: ClusterContext): string[] => [
  ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost', '127.0.0.1'],
  ...plan.gateway.map(addressOf),
  // Of the Service default/kubernetes.
  ...apiAddresses(options.ipFamily),
];

const ROLES = ['namespace.yaml', 'agent-rbac.yaml', 'cluster-manager-rbac.yaml', 'tenants-rbac.yaml', 'admission'];

interface Access {
  /** Where nodes reach it, and where this machine does. */
  readonly server: string;
  readonly apiServer: string;
  readonly credentials: ClusterCredentials;
  readonly reachable: Reachable;
}

const accessOf = (context: ClusterContext, access: Access): ApiAccess => {
  const { options, folder } = context;
  const { server, apiServer, credentials, reachable } = access;
  const paths = kubePaths(folder.apiData);
  const hasNodes = options.programs.has('kubelet');
  const agentToken = (node: string, signal: AbortSignal): Promise<string> =>
    reachable(async (client) => {
      if (hasNodes) await waitForNodeState(client, [node], 'registered', signal, () => {});
      return await requestToken(client, AGENT_ACCOUNT, hasNodes ? node : undefined, signal);
    });
  return {
    manifests: options.programs.has('agent') || options.programs.has('cluster-manager') ? ROLES : [],
    nodeKubeconfig: async (user, node, signal) => {
      if (user === 'agent') return credentials.tokenKubeconfig(server, await agentToken(node, signal));
      return credentials.kubeconfig(server, user === 'kubelet' ? kubeletOf(node) : ADMINISTRATOR);
    },
    podKubeconfig: async (account) => {
      const token = await reachable((client) => requestToken(client, account, undefined));
      return credentials.tokenKubeconfig(podApiUrl(context, 'https'), token);
    },
    clusterManagerKubeconfig: async () => {
      const token = await reachable((client) => requestToken(client, CLUSTER_MANAGER_ACCOUNT, undefined));
      const content = credentials.tokenKubeconfig(apiServer, token);
      await writeFile(paths.clusterManagerKubeconfig, content, { mode: 0o600 });
      return paths.clusterManagerKubeconfig;
    },
  };
};
