/** The cluster's API server, as its administrator. */
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { ClusterContext } from './cluster-context.ts';

export const kubeClient = async ({ folder, artifacts }: ClusterContext): Promise<KubeClient> => {
  const connection = await loadConnection({ kubeconfig: folder.kubeconfig, env: {} });
  return connect(connection, { userAgent: `sandbox/${artifacts.version}` });
};
