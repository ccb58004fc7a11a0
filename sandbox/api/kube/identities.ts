/** Who asks the API server: each program has a user of its own, with the rights that it has in a real cluster. */
import type { Subject } from './certificate.ts';

/** Where `daemonset/` has the service accounts of this project. */
export const PROJECT_NAMESPACE = 'ovn-udn';
export const AGENT_ACCOUNT = 'udn-agent';
export const CLUSTER_MANAGER_ACCOUNT = 'udn-cluster-manager';

/** May do everything: whoever uses the sandbox, and the sandbox itself. */
export const ADMINISTRATOR: Subject = { commonName: 'sandbox-administrator', organizations: ['system:masters'] };

/** What RBAC and the Node authorizer know by these names is made by the API server itself. */
export const CONTROLLER_MANAGER: Subject = { commonName: 'system:kube-controller-manager' };

export const SCHEDULER: Subject = { commonName: 'system:kube-scheduler' };

/** The API server, where it asks kubelets for logs and for commands in pods, as kubeadm names it. */
export const KUBELET_CLIENT: Subject = {
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
};

/** Whether an agent's token is right. */
export const KONNECTIVITY_SERVER: Subject = { commonName: 'system:konnectivity-server' };

export const kubeletOf = (node: string): Subject => ({
  commonName: `system:node:${node}`,
  organizations: ['system:nodes'],
});
