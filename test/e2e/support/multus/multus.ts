/** Multus on the nodes of a cluster. */
import { MULTUS_CONFIGURATION, multusConfiguration } from '../../../../sandbox/cni-plugins/multus-configuration.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

const LOG = { logFile: '/var/log/multus.log', logLevel: 'verbose' };

/** Pods that are created afterwards are Multus'. @param kubeconfig on the nodes */
export const installMultus = async (sandbox: Sandbox, nodes: readonly string[], kubeconfig: string): Promise<void> => {
  const input = JSON.stringify(multusConfiguration(kubeconfig, LOG));
  // By renaming, in the folder: containerd 1.7 does not look for a file that was created or moved into it.
  const draft = `${MULTUS_CONFIGURATION}.draft`;
  const script = `cat > ${draft} && mv ${draft} ${MULTUS_CONFIGURATION}`;
  await Promise.all(nodes.map((node) => sandbox.node(node, ['sh', '-c', script], { input })));
};
