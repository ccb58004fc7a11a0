/** The configuration of the thin plugin of Multus, as docs/attachments.md has it. Pure. */

/** Before that of ovn-udn. */
export const MULTUS_CONFIGURATION = '/etc/cni/net.d/00-multus.conf';
const DEFAULT_NETWORK = '/etc/cni/net.d/10-ovn-kubernetes.conflist';

/** @param kubeconfig on the node @param more of its fields */
export const multusConfiguration = (kubeconfig: string, more: object = {}): object => ({
  cniVersion: '1.0.0',
  name: 'multus',
  type: 'multus',
  kubeconfig,
  clusterNetwork: DEFAULT_NETWORK,
  readinessindicatorfile: DEFAULT_NETWORK,
  namespaceIsolation: true,
  logToStderr: false,
  ...more,
});
