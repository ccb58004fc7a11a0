/**
 * How the API server reaches the cluster by konnectivity: its server beside it, and agents, pods of the default network that connect to that
 * and open connections for it. Pure.
 */
import { KONNECTIVITY_SERVER } from '../api/kube/identities.ts';
import type { KubePaths } from '../api/kube/paths.ts';
import { NODE_KONNECTIVITY_AGENT } from '../machine/node-root.ts';
import type { CommandLine } from '../machine/types.ts';
import type { ManifestObject } from '../objects/manifests.ts';

const NAMESPACE = 'kube-system';
const NAME = 'konnectivity-agent';
const LABELS = { 'k8s-app': NAME };
export const KONNECTIVITY_AGENTS = `${NAMESPACE}/${NAME}`;
/** Of the agents' tokens. */
export const KONNECTIVITY_AUDIENCE = 'system:konnectivity-server';

/** In the network of the underlay, and in those of the agents. */
const AGENT_PORT = 8132;
const ADMIN_PORT = 8133;
const HEALTH_PORT = 8134;

/** What the API server opens to nodes, pods and Services goes by the socket; JSON is YAML. */
export const egressConfiguration = (paths: KubePaths): string =>
  JSON.stringify({
    ...{ apiVersion: 'apiserver.k8s.io/v1beta1', kind: 'EgressSelectorConfiguration' },
    egressSelections: [
      {
        name: 'cluster',
        connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName: paths.konnectivitySocket } } },
      },
    ],
  });

/** Agents find it by the certificate of the API server, which is for the same addresses. */
export const konnectivityServerCommand = (program: string, paths: KubePaths): CommandLine => ({
  file: program,
  args: [
    ...[`--uds-name=${paths.konnectivitySocket}`, '--delete-existing-uds-file', '--mode=grpc', '--server-port=0'],
    ...[`--cluster-cert=${paths.serverCertificate}`, `--cluster-key=${paths.serverKey}`, `--agent-port=${AGENT_PORT}`],
    ...[`--admin-port=${ADMIN_PORT}`, `--health-port=${HEALTH_PORT}`, `--kubeconfig=${paths.konnectivityKubeconfig}`],
    ...[`--agent-namespace=${NAMESPACE}`, `--agent-service-account=${NAME}`],
    `--authentication-audience=${KONNECTIVITY_AUDIENCE}`,
  ],
});

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKENS = '/var/run/secrets/tokens';
const PROGRAM = `/usr/local/bin/${NAME}`;

/** @param server the address at which nodes and pods reach it */
export const konnectivityManifests = (server: string, replicas: number): ManifestObject[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: NAMESPACE, name: NAME } },
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
    metadata: { name: KONNECTIVITY_SERVER.commonName },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:auth-delegator' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: KONNECTIVITY_SERVER.commonName }],
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: NAMESPACE, name: NAME, labels: LABELS } },
    spec: {
      replicas,
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: agentPod(server) },
    },
  },
];

const agentPod = (server: string): object => ({
  ...{ serviceAccountName: NAME, dnsPolicy: 'Default', terminationGracePeriodSeconds: 1 },
  containers: [
    {
      ...{ name: 'agent', image: 'toolbox', imagePullPolicy: 'IfNotPresent' },
      command: [
        ...[PROGRAM, `--ca-cert=${ACCOUNT}/ca.crt`, `--service-account-token-path=${TOKENS}/${NAME}`],
        ...[`--proxy-server-host=${server}`, `--proxy-server-port=${AGENT_PORT}`],
        ...[`--admin-server-port=${ADMIN_PORT}`, `--health-server-port=${HEALTH_PORT}`],
      ],
      readinessProbe: { httpGet: { path: '/readyz', port: HEALTH_PORT }, periodSeconds: 1, timeoutSeconds: 5 },
      volumeMounts: [
        { name: 'program', mountPath: PROGRAM, readOnly: true },
        { name: 'tokens', mountPath: TOKENS, readOnly: true },
      ],
    },
  ],
  volumes: [
    { name: 'program', hostPath: { path: NODE_KONNECTIVITY_AGENT, type: 'File' } },
    {
      name: 'tokens',
      projected: { sources: [{ serviceAccountToken: { path: NAME, audience: KONNECTIVITY_AUDIENCE } }] },
    },
  ],
});
