/** The API server of a running sandbox. */
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import type { KubeClient } from '../../kube/types.ts';
import { findArtifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { connectControl } from '../supervisor/control-client.ts';
import type { SandboxStatus } from '../supervisor/types.ts';

/** Closes the connections when `use` is done. @throws SandboxError ERR_SANDBOX_DOWN, ERR_SANDBOX_NOT_FOUND */
export const withClient = async <T>(name: string, use: (client: KubeClient) => Promise<T>): Promise<T> => {
  const client = await clientOf(await connectControl(name).status());
  try {
    return await use(client);
  } finally {
    client.close();
  }
};

/** Of everything but watches, on this machine's own kernel. */
const TIMEOUT_MS = 30_000;

/** A request of a guest that has much to do has more time, as everything there. */
export const clientOf = async ({
  kubeconfig,
  guest,
}: Pick<SandboxStatus, 'kubeconfig' | 'guest'>): Promise<KubeClient> => {
  if (kubeconfig === undefined) {
    throw new SandboxError(
      'ERR_SANDBOX_NOT_FOUND',
      'this sandbox has no API server: it was started with --programs none',
    );
  }
  const connection = await loadConnection({ kubeconfig, env: {} });
  const timeoutMs = TIMEOUT_MS * (guest?.slowdown ?? 1);
  return connect(connection, { userAgent: `sandbox/${findArtifacts().version}`, timeoutMs });
};
