/** konnectivity, where it is requested: its server beside the API server, its agents in pods. */
import { writeFile } from 'node:fs/promises';
import { unlessAborted } from '../../base/abort.ts';
import { addressOf } from '../../net/cidr.ts';
import { kubePaths } from '../api/kube/paths.ts';
import {
  egressConfiguration,
  KONNECTIVITY_AGENTS,
  konnectivityManifests,
  konnectivityServerCommand,
} from '../konnectivity/settings.ts';
import { createObjects } from '../objects/objects.ts';
import { partReady } from '../process/parts.ts';
import { type ClusterContext, type ClusterState, UNDERLAY } from './cluster-context.ts';
import { startOnce } from './control-plane-services.ts';
import { kubeClient } from './kube-client.ts';

/** Before the API server, which reads the configuration. Either may be there first. */
export const startKonnectivityServer = async (
  context: ClusterContext,
  state: ClusterState,
  kubeconfig: string,
): Promise<void> => {
  const { folder, konnectivity } = context;
  if (konnectivity === undefined) return;
  const paths = kubePaths(folder.apiData);
  await Promise.all([
    writeFile(paths.egressConfiguration, egressConfiguration(paths)),
    writeFile(paths.konnectivityKubeconfig, kubeconfig, { mode: 0o600 }),
  ]);
  const command = konnectivityServerCommand(konnectivity['konnectivity-server'], paths);
  startOnce(context, state, 'konnectivity-server', command, { machine: UNDERLAY });
};

/** So that one of them may end. */
const AGENTS = 2;

/** Resolves when they are connected. */
export const startKonnectivityAgents = async (context: ClusterContext, signal: AbortSignal): Promise<void> => {
  const { options, plan, konnectivity, progress } = context;
  const [server] = plan.gateway.map(addressOf);
  if (konnectivity === undefined || server === undefined) return;
  const client = await kubeClient(context);
  try {
    const objects = createObjects(client);
    await objects.apply(konnectivityManifests(server, AGENTS));
    const { timeoutSeconds } = options;
    const ready = objects.wait('deployment', KONNECTIVITY_AGENTS, 'condition=Available', { timeoutSeconds });
    await partReady('konnectivity', undefined, unlessAborted(signal, ready));
    progress('the API server reaches pods by konnectivity');
  } finally {
    client.close();
  }
};
