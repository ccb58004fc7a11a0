/** What the cluster's DNS server is made of: the Service kube-dns, CoreDNS behind it, and what that may read. Pure. */
import type { Ip } from '../../net/ip.ts';
import type { ServiceAccount } from '../api/types.ts';
import type { ManifestObject } from '../objects/manifests.ts';
import { CLUSTER_DOMAIN } from '../plan/cluster-settings.ts';

const NAMESPACE = 'kube-system';
/** By which clusters know it. */
const LABELS = { 'k8s-app': 'kube-dns' };
export const COREDNS_ACCOUNT: ServiceAccount = { namespace: NAMESPACE, name: 'coredns' };
const READY_PORT = 8181;

/** The rights that CoreDNS's documentation of the plugin kubernetes asks for. */
export const COREDNS_RIGHTS: readonly ManifestObject[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...COREDNS_ACCOUNT } },
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'system:coredns' } },
    rules: [
      { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'system:coredns' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', ...COREDNS_ACCOUNT }],
  },
];

interface CorednsSpec {
  readonly clusterIps: readonly Ip[];
  readonly node: string;
  /** Of its service account; undefined where a kubelet gives pods their tokens. */
  readonly kubeconfig: string | undefined;
}

/** One pod, on a node that is named: who is on another one is known then. */
export const corednsManifests = ({ clusterIps, node, kubeconfig }: CorednsSpec): ManifestObject[] => [
  {
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { namespace: NAMESPACE, name: 'kube-dns', labels: LABELS },
    spec: {
      clusterIP: clusterIps[0],
      clusterIPs: clusterIps,
      ipFamilyPolicy: clusterIps.length > 1 ? 'RequireDualStack' : 'SingleStack',
      selector: LABELS,
      ports: [
        { name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 },
        { name: 'dns-tcp', protocol: 'TCP', port: 53, targetPort: 53 },
      ],
    },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: NAMESPACE, name: 'coredns', labels: LABELS } },
    spec: {
      ...{ nodeName: node, serviceAccountName: COREDNS_ACCOUNT.name, dnsPolicy: 'Default' },
      terminationGracePeriodSeconds: 1,
      containers: [container(kubeconfig)],
    },
  },
];

/** Its settings are variables: the kubelet stand-in has no volumes. */
const container = (kubeconfig: string | undefined): object => ({
  ...{ name: 'coredns', image: 'coredns', imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', START] },
  env: [
    { name: 'COREFILE', value: corefile(kubeconfig !== undefined) },
    ...(kubeconfig === undefined ? [] : [{ name: 'KUBECONFIG_CONTENT', value: kubeconfig }]),
  ],
  ports: [
    { name: 'dns', protocol: 'UDP', containerPort: 53 },
    { name: 'dns-tcp', protocol: 'TCP', containerPort: 53 },
  ],
  readinessProbe: { httpGet: { path: '/ready', port: READY_PORT }, periodSeconds: 1, timeoutSeconds: 5 },
});

const KUBECONFIG = '/tmp/kubeconfig';
const START = `printf %s "$COREFILE" > /tmp/Corefile && printf %s "$KUBECONFIG_CONTENT" > ${KUBECONFIG} &&
exec coredns -conf /tmp/Corefile`;

/** As kubeadm has it, without what leads out of the cluster. */
const corefile = (hasKubeconfig: boolean): string => `.:53 {
  errors
  health
  ready :${READY_PORT}
  cache 30
  loadbalance
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {
    pods insecure
    ttl 30
${hasKubeconfig ? `    kubeconfig ${KUBECONFIG}\n` : ''}  }
}
`;
