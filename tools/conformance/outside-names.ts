/**
 * Names for tenants without VRFs on their nodes, by which they would reach kube-dns: a CoreDNS on the host outside of the cluster, which
 * their pods ask as they ask any host outside. Both are the suite's: users' clusters have nothing of it.
 */
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { CLUSTER_DOMAIN } from '../../sandbox/plan/cluster-settings.ts';
import { KUBECONFIG, NAME_SERVER, PROGRAMS, WORK_FOLDER } from './cluster.ts';
import { SUITE_LABEL } from './tenants.ts';

/** It ends with the host outside. @returns the addresses that it answers at */
export const serveNames = async (sandbox: Sandbox): Promise<string[]> => {
  await sandbox.outside(['sh', '-c', SERVE], { input: COREFILE });
  const { stdout } = await sandbox.outside(['ip', '-json', 'address', 'show', 'dev', 'eth0', 'scope', 'global']);
  const links = JSON.parse(stdout) as { addr_info?: { local?: string }[] }[];
  // For an address of another scope ip(8) writes an object with nothing in it.
  return links.flatMap(({ addr_info = [] }) => addr_info.flatMap(({ local }) => local ?? []));
};

const COREFILE = `.:53 {
  errors
  cache 30
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {
    pods insecure
    ttl 5
    kubeconfig ${KUBECONFIG}
  }
}
`;

/** A suite after another one finds it there: of two, the second has no port. */
const SERVE = `cat > ${WORK_FOLDER}/Corefile
setsid ${PROGRAMS}/${NAME_SERVER} -conf ${WORK_FOLDER}/Corefile > ${WORK_FOLDER}/names.log 2>&1 < /dev/null &`;

const NAME = 'conformance-names';
const API_VERSION = 'admissionregistration.k8s.io/v1';

/** Pods of the suite's namespaces ask it, with the search path that a kubelet would have given them. */
export const namesPolicy = (suite: string, servers: readonly string[]): readonly ManifestObject[] => [
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicy', metadata: { name: NAME } },
    spec: {
      reinvocationPolicy: 'Never',
      matchConstraints: {
        namespaceSelector: { matchLabels: { [SUITE_LABEL]: suite } },
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      matchConditions: [
        { name: 'asks-the-cluster', expression: `object.spec.dnsPolicy == 'ClusterFirst'` },
        { name: 'is-of-the-network', expression: '!has(object.spec.hostNetwork) || !object.spec.hostNetwork' },
      ],
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patchOf(servers) } }],
    },
  },
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicyBinding', metadata: { name: NAME } },
    spec: { policyName: NAME },
  },
];

const patchOf = (servers: readonly string[]): string => {
  const nameservers = servers.map((server) => `'${server}'`).join(', ');
  const searches = `request.namespace + '.svc.${CLUSTER_DOMAIN}', 'svc.${CLUSTER_DOMAIN}', '${CLUSTER_DOMAIN}'`;
  const options = `[Object.spec.dnsConfig.options{name: 'ndots', value: '5'}]`;
  const config = `Object.spec.dnsConfig{nameservers: [${nameservers}], searches: [${searches}], options: ${options}}`;
  return `[JSONPatch{op: 'replace', path: '/spec/dnsPolicy', value: 'None'}, JSONPatch{op: 'add', path: '/spec/dnsConfig', value: ${config}}]`;
};
