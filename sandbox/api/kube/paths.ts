/** Where the control plane's files are, in a folder that goes with the sandbox. */
import { join } from 'node:path';

export interface KubePaths {
  readonly folder: string;
  readonly etcdData: string;
  readonly authority: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  /** Signs the tokens of service accounts. */
  readonly tokenKey: string;
  /** Until the server answers. */
  readonly administratorKubeconfig: string;
  readonly controllerManagerKubeconfig: string;
  readonly schedulerKubeconfig: string;
  /** With which the API server asks kubelets. */
  readonly kubeletClientCertificate: string;
  readonly kubeletClientKey: string;
  readonly clusterManagerKubeconfig: string;
  /** Where the API server reaches konnectivity's server, with which kubeconfig that asks it, and what says so. */
  readonly konnectivitySocket: string;
  readonly konnectivityKubeconfig: string;
  readonly egressConfiguration: string;
}

export const kubePaths = (folder: string): KubePaths => ({
  folder,
  etcdData: join(folder, 'etcd'),
  authority: join(folder, 'ca.crt'),
  serverCertificate: join(folder, 'server.crt'),
  serverKey: join(folder, 'server.key'),
  tokenKey: join(folder, 'tokens.key'),
  administratorKubeconfig: join(folder, 'administrator.kubeconfig'),
  controllerManagerKubeconfig: join(folder, 'controller-manager.kubeconfig'),
  schedulerKubeconfig: join(folder, 'scheduler.kubeconfig'),
  kubeletClientCertificate: join(folder, 'kubelet-client.crt'),
  kubeletClientKey: join(folder, 'kubelet-client.key'),
  clusterManagerKubeconfig: join(folder, 'cluster-manager.kubeconfig'),
  konnectivitySocket: join(folder, 'konnectivity.sock'),
  konnectivityKubeconfig: join(folder, 'konnectivity.kubeconfig'),
  egressConfiguration: join(folder, 'egress.yaml'),
});
