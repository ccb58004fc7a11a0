/** The objects of a run, in the order in which they are created. Pure. */
import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { NAMESPACES, PODS, SERVICE_ACCOUNTS, SERVICES } from '../../kube/resources.ts';
import type { ObjectInput, ResourceType } from '../../kube/types.ts';
import { type Cidr, cidrFamily } from '../../net/cidr.ts';
import {
  CONTAINER,
  HOSTNAME_LABEL,
  namespaceName,
  PORTS,
  type PodPlace,
  podPlaces,
  RUN_LABEL,
  type Run,
  SERVICE_NAME,
  SERVICE_PORT,
  TENANTS,
  type Tenant,
} from './run.ts';
import { HOST_SUBNET } from './subnets.ts';

export interface Manifest {
  readonly resource: ResourceType;
  readonly object: ObjectInput;
}

const NETWORK_NAME = 'net';

export const manifestsOf = (run: Run): readonly Manifest[] => [
  ...TENANTS.flatMap((tenant) => [
    namespaceOf(run, tenant),
    accountOf(run, tenant),
    ...(run.subnets === undefined ? [] : [networkOf(run, tenant, run.subnets)]),
    serviceOf(run, tenant),
  ]),
  ...podPlaces(run).map((place) => podOf(run, place)),
];

const labelsOf = ({ id }: Run) => ({ [RUN_LABEL]: id });

/** Pods of the strictest of the Pod Security Standards: what a cluster may demand of all namespaces, they keep. */
const namespaceOf = (run: Run, tenant: Tenant): Manifest => ({
  resource: NAMESPACES,
  object: {
    metadata: {
      name: namespaceName(run, tenant),
      labels: {
        ...labelsOf(run),
        'pod-security.kubernetes.io/enforce': 'restricted',
        ...(run.subnets !== undefined && { [PRIMARY_NETWORK_LABEL]: '' }),
      },
    },
  },
});

/** Of its own: the namespace's default account comes some time after the namespace, and pods are refused until then. */
const accountOf = (run: Run, tenant: Tenant): Manifest => ({
  resource: SERVICE_ACCOUNTS,
  object: { metadata: metadataOf(run, tenant, CONTAINER), automountServiceAccountToken: false },
});

const networkOf = (run: Run, tenant: Tenant, subnets: readonly Cidr[]): Manifest => ({
  resource: USER_DEFINED_NETWORKS,
  object: {
    metadata: metadataOf(run, tenant, NETWORK_NAME),
    spec: {
      topology: 'Layer3',
      layer3: {
        role: 'Primary',
        subnets: subnets.map((cidr) => ({ cidr, hostSubnet: HOST_SUBNET[cidrFamily(cidr)] })),
      },
    },
  },
});

const serviceOf = (run: Run, tenant: Tenant): Manifest => ({
  resource: SERVICES,
  object: {
    metadata: metadataOf(run, tenant, SERVICE_NAME),
    spec: {
      ipFamilyPolicy: 'PreferDualStack',
      selector: labelsOf(run),
      ports: [{ name: 'http', protocol: 'TCP', port: SERVICE_PORT, targetPort: PORTS[tenant].tcp }],
    },
  },
});

const podOf = (run: Run, { name, tenant, node }: PodPlace): Manifest => ({
  resource: PODS,
  object: {
    metadata: metadataOf(run, tenant, name),
    spec: {
      // By the scheduler, which knows what a node has left; not past it, as `nodeName` would be.
      nodeSelector: { [HOSTNAME_LABEL]: node.hostname },
      serviceAccountName: CONTAINER,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 65_534, runAsGroup: 65_534 },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [containerOf(run, tenant)],
    },
  },
});

const containerOf = ({ image, program }: Run, tenant: Tenant) => {
  const { tcp, udp } = PORTS[tenant];
  return {
    ...{ name: CONTAINER, image, imagePullPolicy: 'IfNotPresent' },
    command: [program, 'netexec', `--http-port=${tcp}`, `--udp-port=${udp}`],
    ports: [
      { name: 'http', containerPort: tcp, protocol: 'TCP' },
      { name: 'echo', containerPort: udp, protocol: 'UDP' },
    ],
    readinessProbe: { httpGet: { path: '/healthz', port: tcp }, periodSeconds: 1 },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
    resources: { requests: { cpu: '10m', memory: '32Mi' } },
  };
};

const metadataOf = (run: Run, tenant: Tenant, name: string) => ({
  namespace: namespaceName(run, tenant),
  name,
  labels: labelsOf(run),
});
