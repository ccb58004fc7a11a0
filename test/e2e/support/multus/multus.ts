/** Multus on the nodes of a cluster, with the rights that its own manifests give it. */
import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { MULTUS_CONFIGURATION, multusConfiguration } from '../../../../sandbox/cni-plugins/multus-configuration.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { NODE_KUBECONFIG } from '../../../../sandbox/machine/node-root.ts';

const ACCOUNT = { namespace: 'kube-system', name: 'multus' };
const RBAC = 'rbac.authorization.k8s.io';
/** As deployments/multus-daemonset.yml of Multus 4.2.3 has it. */
const RIGHTS: readonly ManifestObject[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ACCOUNT },
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: 'multus' } },
    rules: [
      { apiGroups: ['k8s.cni.cncf.io'], resources: ['*'], verbs: ['*'] },
      { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'multus' } },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'multus' },
    subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }],
  },
];

const KUBECONFIG = '/etc/cni/net.d/multus.d/multus.kubeconfig';
const LOG = { logFile: '/var/log/multus.log', logLevel: 'verbose' };

/** Pods that are created afterwards are Multus'. */
export const installMultus = async (sandbox: Sandbox, nodes: readonly string[]): Promise<void> => {
  await (await sandbox.objects()).apply(RIGHTS);
  const configuration = JSON.stringify(multusConfiguration(KUBECONFIG, LOG));
  await Promise.all(
    nodes.map(async (node) => {
      await write(sandbox, node, KUBECONFIG, await kubeconfigOn(sandbox, node));
      await write(sandbox, node, MULTUS_CONFIGURATION, configuration);
    }),
  );
};

/** That of the node's administrator with a token of Multus' account. */
const kubeconfigOn = async (sandbox: Sandbox, node: string): Promise<string> => {
  const create = ['kubectl', 'create', 'token', '--namespace', ACCOUNT.namespace, ACCOUNT.name];
  const { stdout: token } = await sandbox.node(node, create);
  const document = parseDocument((await sandbox.node(node, ['cat', NODE_KUBECONFIG])).stdout);
  document.setIn(['users', 0, 'user'], { token: token.trim() });
  return document.toString({ lineWidth: 0 });
};

/** By renaming, in the folder: containerd 1.7 does not look for a file that was created or moved into it. */
const write = async (sandbox: Sandbox, node: string, path: string, input: string): Promise<void> => {
  const script = `mkdir -p ${dirname(path)} && cat > ${path}.draft && mv ${path}.draft ${path}`;
  await sandbox.node(node, ['sh', '-c', script], { input });
};
