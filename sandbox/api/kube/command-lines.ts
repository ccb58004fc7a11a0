/** How etcd, the API server, the controller manager and the scheduler are started. Pure. */
import type { Ip } from '../../../net/ip.ts';
import type { CommandLine } from '../../machine/types.ts';
import type { KubePaths } from './paths.ts';

/** In the network of the underlay, where nobody else listens. */
const ETCD_PORT = 2379;
const ETCD_PEER_PORT = 2380;
const ETCD = `http://127.0.0.1:${ETCD_PORT}`;
const ETCD_PEERS = `http://127.0.0.1:${ETCD_PEER_PORT}`;

/** Nothing outlives the sandbox, so that nothing has to outlive a power cut; an etcd that is killed loses nothing. */
export const etcdCommand = (program: string, paths: KubePaths): CommandLine => ({
  file: program,
  args: [
    ...['--name', 'sandbox', '--data-dir', paths.etcdData, '--unsafe-no-fsync'],
    ...['--listen-client-urls', ETCD, '--advertise-client-urls', ETCD],
    ...['--listen-peer-urls', ETCD_PEERS, '--initial-advertise-peer-urls', ETCD_PEERS],
    ...['--initial-cluster', `sandbox=${ETCD_PEERS}`, '--log-level', 'warn'],
  ],
});

export interface ApiServerSpec {
  readonly program: string;
  readonly paths: KubePaths;
  readonly port: number;
  /** What the Service default/kubernetes leads to: of the family of the first Service subnet. */
  readonly advertise: Ip;
  readonly serviceSubnets: readonly string[];
  /** Default: it opens connections itself. */
  readonly egress?: ApiServerEgress | undefined;
}

export interface ApiServerEgress {
  /** The path of an EgressSelectorConfiguration. */
  readonly configuration: string;
  /** Of the tokens that the proxy asks the API server about. */
  readonly audience: string;
}

/** Admission as a careful administrator has it: the plugins that are on by default, and two that ask for rights. */
const ADMISSION = ['NodeRestriction', 'OwnerReferencesPermissionEnforcement'];

/** Audit is off, as it is without a policy. */
export const apiServerCommand = (spec: ApiServerSpec): CommandLine => ({
  file: spec.program,
  args: [
    ...[`--etcd-servers=${ETCD}`, `--secure-port=${spec.port}`, `--bind-address=${anyOf(spec.serviceSubnets)}`],
    ...[`--advertise-address=${spec.advertise}`, `--service-cluster-ip-range=${spec.serviceSubnets.join(',')}`],
    ...[`--tls-cert-file=${spec.paths.serverCertificate}`, `--tls-private-key-file=${spec.paths.serverKey}`],
    ...[`--client-ca-file=${spec.paths.authority}`, `--authorization-mode=Node,RBAC`],
    ...[`--enable-admission-plugins=${ADMISSION.join(',')}`, '--allow-privileged=true'],
    ...[`--service-account-issuer=${ISSUER}`, `--service-account-key-file=${spec.paths.tokenKey}`],
    ...[`--service-account-signing-key-file=${spec.paths.tokenKey}`],
    ...[`--kubelet-client-certificate=${spec.paths.kubeletClientCertificate}`],
    ...[`--kubelet-client-key=${spec.paths.kubeletClientKey}`, '--kubelet-preferred-address-types=InternalIP'],
    ...(spec.egress === undefined ? [] : egressFlags(spec.egress)),
  ],
});

const egressFlags = ({ configuration, audience }: ApiServerEgress): string[] => [
  `--egress-selector-config-file=${configuration}`,
  `--api-audiences=${ISSUER},${audience}`,
];

/** `::` takes both families, on kernels that have IPv6. */
const anyOf = (subnets: readonly string[]): string =>
  subnets.some((subnet) => subnet.includes(':')) ? '::' : '0.0.0.0';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';

/**
 * What the sandbox has no part of its own for, and what namespaces, owners and pods need: without service accounts the
 * API server lets no pod in.
 */
const CONTROLLERS = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'validatingadmissionpolicy-status-controller',
  // It finds definitions that came later within half a minute.
  'resourcequota-controller',
];

/** All that are on by default, for clusters of real kubelets: Deployments, EndpointSlices, what happens to nodes and the rest. */
const ALL_CONTROLLERS = ['*'];

/** @param scope the sandbox has parts of its own beside `few` */
export const controllerManagerCommand = (program: string, paths: KubePaths, scope: 'few' | 'all'): CommandLine => ({
  file: program,
  args: [
    ...[`--kubeconfig=${paths.controllerManagerKubeconfig}`, '--leader-elect=false', '--secure-port=0'],
    `--controllers=${(scope === 'few' ? CONTROLLERS : ALL_CONTROLLERS).join(',')}`,
    '--use-service-account-credentials=true',
    ...[`--service-account-private-key-file=${paths.tokenKey}`, `--root-ca-file=${paths.authority}`],
    '--resource-quota-sync-period=10s',
  ],
});

export const schedulerCommand = (program: string, paths: KubePaths): CommandLine => ({
  file: program,
  args: [`--kubeconfig=${paths.schedulerKubeconfig}`, '--leader-elect=false', '--secure-port=0'],
});
