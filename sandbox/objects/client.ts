/** The API server of a running sandbox. */
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import type { KubeClient } from '../../kube/types.ts';
import { findArtifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { connectControl } from '../supervisor/control-client.ts';

/** Closes the connections when `use` is done. @throws SandboxError ERR_SANDBOX_DOWN, ERR_SANDBOX_NOT_FOUND */
export const withClient = async <T>(name: string, use: (client: KubeClient) => Promise<T>): Promise<T> => {
  const client = await clientOf((await connectControl(name).status()).kubeconfig);
  try {
    return await use(client);
  } finally {
    client.close();
  }
};

/** @param kubeconfig of SandboxStatus */
export const clientOf = async (kubeconfig: string | undefined): Promise<KubeClient> => {
  if (kubeconfig === undefined) {
    throw new SandboxError(
      'ERR_SANDBOX_NOT_FOUND',
      'this sandbox has no API server: it was started with --programs none',
    );
  }
  const connection = await loadConnection({ kubeconfig, env: {} });
  return connect(connection, { userAgent: `sandbox/${findArtifacts().version}` });
};
