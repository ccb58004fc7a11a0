/** Multus on the nodes of a cluster, as docs/attachments.md sets it up. */
import type { Sandbox } from '../../../../sandbox/index.ts';

const MULTUS_CONFIGURATION = '/etc/cni/net.d/00-multus.conf';
const DEFAULT_NETWORK = '/etc/cni/net.d/10-ovn-kubernetes.conflist';

/** The thin plugin needs this file and a kubeconfig. @param kubeconfig on the node */
const multusConfiguration = (kubeconfig: string): object => ({
  cniVersion: '1.0.0',
  name: 'multus',
  type: 'multus',
  kubeconfig,
  clusterNetwork: DEFAULT_NETWORK,
  readinessindicatorfile: DEFAULT_NETWORK,
  namespaceIsolation: true,
  logToStderr: false,
  logFile: '/var/log/multus.log',
  logLevel: 'verbose',
});

/** Pods that are created afterwards are Multus'. */
export const installMultus = async (sandbox: Sandbox, nodes: readonly string[], kubeconfig: string): Promise<void> => {
  const input = JSON.stringify(multusConfiguration(kubeconfig));
  // By renaming, in the folder: containerd 1.7 does not look for a file that was created or moved into it.
  const draft = `${MULTUS_CONFIGURATION}.draft`;
  const script = `cat > ${draft} && mv ${draft} ${MULTUS_CONFIGURATION}`;
  await Promise.all(nodes.map((node) => sandbox.node(node, ['sh', '-c', script], { input })));
};
