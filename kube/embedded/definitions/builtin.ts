/** The built-in kinds. A new one is a row here. */
import {
  CONFIG_MAP_COLUMNS,
  CRD_COLUMNS,
  DAEMON_SET_COLUMNS,
  DEPLOYMENT_COLUMNS,
  ENDPOINT_SLICE_COLUMNS,
  ENDPOINTS_COLUMNS,
  EVENT_COLUMNS,
  LEASE_COLUMNS,
  NAME_AND_AGE,
  NAMESPACE_COLUMNS,
  NETWORK_POLICY_COLUMNS,
  NODE_COLUMNS,
  SECRET_COLUMNS,
  SERVICE_ACCOUNT_COLUMNS,
  SERVICE_COLUMNS,
} from '../table/builtin-columns.ts';
import { POD_COLUMNS } from '../table/pod-columns.ts';
import {
  EVENT_FIELDS,
  NETWORK_POLICY_FIELDS,
  NODE_FIELDS,
  PLAIN_FIELDS,
  POD_FIELDS,
  SERVICE_ACCOUNT_FIELDS,
  SERVICE_FIELDS,
  WORKLOAD_FIELDS,
} from './builtin-fields.ts';
import { EVENT_CONVERSION } from './event-conversion.ts';
import { CRD_STRATEGY } from './strategies/crd.ts';
import {
  CONFIG_MAP_STRATEGY,
  ENDPOINT_SLICE_STRATEGY,
  NAMESPACE_STRATEGY,
  NETWORK_POLICY_STRATEGY,
  RBAC,
  SECRET_STRATEGY,
  SERVICE_ACCOUNT_STRATEGY,
  STORED,
  UPSERTED,
  WORKLOAD_STRATEGY,
} from './strategies/plain.ts';
import { POD_STRATEGY } from './strategies/pod.ts';
import { SERVICE_STRATEGY } from './strategies/service.ts';
import type { ResourceDefinition } from './types.ts';

type Row = Pick<ResourceDefinition, 'kind' | 'plural'> &
  Partial<Omit<ResourceDefinition, 'group' | 'version' | 'custom' | 'singular'>>;

const cluster = { namespaced: false };

const CORE: readonly Row[] = [
  {
    kind: 'Namespace',
    plural: 'namespaces',
    ...cluster,
    shortNames: ['ns'],
    hasStatus: true,
    columns: NAMESPACE_COLUMNS,
    strategy: NAMESPACE_STRATEGY,
    selectableFields: ['status.phase'],
  },
  {
    kind: 'Node',
    plural: 'nodes',
    ...cluster,
    shortNames: ['no'],
    hasStatus: true,
    columns: NODE_COLUMNS,
    fields: NODE_FIELDS,
    selectableFields: ['spec.unschedulable'],
  },
  {
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    hasStatus: true,
    columns: POD_COLUMNS,
    fields: POD_FIELDS,
    strategy: POD_STRATEGY,
    selectableFields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
  },
  {
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    columns: SERVICE_COLUMNS,
    fields: SERVICE_FIELDS,
    strategy: SERVICE_STRATEGY,
    selectableFields: ['spec.clusterIP', 'spec.type'],
  },
  { kind: 'Endpoints', plural: 'endpoints', shortNames: ['ep'], columns: ENDPOINTS_COLUMNS, strategy: UPSERTED },
  {
    kind: 'ConfigMap',
    plural: 'configmaps',
    shortNames: ['cm'],
    columns: CONFIG_MAP_COLUMNS,
    strategy: CONFIG_MAP_STRATEGY,
  },
  {
    kind: 'Secret',
    plural: 'secrets',
    columns: SECRET_COLUMNS,
    strategy: SECRET_STRATEGY,
    selectableFields: ['type'],
  },
  {
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    shortNames: ['sa'],
    columns: SERVICE_ACCOUNT_COLUMNS,
    fields: SERVICE_ACCOUNT_FIELDS,
    strategy: SERVICE_ACCOUNT_STRATEGY,
  },
  {
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    columns: EVENT_COLUMNS,
    fields: EVENT_FIELDS,
    strategy: UPSERTED,
    selectableFields: [
      'involvedObject.kind',
      'involvedObject.namespace',
      'involvedObject.name',
      'involvedObject.uid',
      'involvedObject.apiVersion',
      'involvedObject.resourceVersion',
      'involvedObject.fieldPath',
      'reason',
      'reportingComponent',
      'source',
      'type',
    ],
  },
];

const GROUPED: Readonly<Record<string, readonly Row[]>> = {
  'events.k8s.io': [
    {
      kind: 'Event',
      plural: 'events',
      shortNames: ['ev'],
      collection: '/events',
      conversion: EVENT_CONVERSION,
      columns: EVENT_COLUMNS,
      fields: EVENT_FIELDS,
      selectableFields: ['reason', 'type'],
    },
  ],
  'discovery.k8s.io': [
    {
      kind: 'EndpointSlice',
      plural: 'endpointslices',
      hasGeneration: true,
      columns: ENDPOINT_SLICE_COLUMNS,
      strategy: ENDPOINT_SLICE_STRATEGY,
    },
  ],
  'networking.k8s.io': [
    {
      kind: 'NetworkPolicy',
      plural: 'networkpolicies',
      shortNames: ['netpol'],
      hasGeneration: true,
      columns: NETWORK_POLICY_COLUMNS,
      fields: NETWORK_POLICY_FIELDS,
      strategy: NETWORK_POLICY_STRATEGY,
    },
  ],
  'coordination.k8s.io': [{ kind: 'Lease', plural: 'leases', columns: LEASE_COLUMNS, strategy: UPSERTED }],
  'apiextensions.k8s.io': [
    {
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
      ...cluster,
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      hasStatus: true,
      hasGeneration: true,
      columns: CRD_COLUMNS,
      strategy: CRD_STRATEGY,
    },
  ],
  apps: [
    {
      kind: 'Deployment',
      plural: 'deployments',
      shortNames: ['deploy'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      columns: DEPLOYMENT_COLUMNS,
      fields: WORKLOAD_FIELDS,
      strategy: WORKLOAD_STRATEGY,
    },
    {
      kind: 'DaemonSet',
      plural: 'daemonsets',
      shortNames: ['ds'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      columns: DAEMON_SET_COLUMNS,
      fields: WORKLOAD_FIELDS,
      strategy: WORKLOAD_STRATEGY,
    },
    {
      kind: 'ReplicaSet',
      plural: 'replicasets',
      shortNames: ['rs'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      fields: WORKLOAD_FIELDS,
    },
  ],
  'rbac.authorization.k8s.io': [
    { kind: 'ClusterRole', plural: 'clusterroles', ...cluster, strategy: RBAC },
    { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', ...cluster, strategy: RBAC },
    { kind: 'Role', plural: 'roles', strategy: RBAC },
    { kind: 'RoleBinding', plural: 'rolebindings', strategy: RBAC },
  ],
  'admissionregistration.k8s.io': [
    {
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      ...cluster,
      hasStatus: true,
      hasGeneration: true,
    },
    { kind: 'ValidatingAdmissionPolicyBinding', plural: 'validatingadmissionpolicybindings', ...cluster },
  ],
  'scheduling.k8s.io': [{ kind: 'PriorityClass', plural: 'priorityclasses', ...cluster, shortNames: ['pc'] }],
  policy: [{ kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', shortNames: ['pdb'], hasStatus: true }],
};

const definition = (group: string, row: Row): ResourceDefinition => ({
  group,
  version: 'v1',
  singular: row.kind.toLowerCase(),
  custom: false,
  namespaced: true,
  shortNames: [],
  categories: [],
  collection: `${group}/${row.plural}`,
  hasStatus: false,
  hasGeneration: false,
  fields: PLAIN_FIELDS,
  selectableFields: [],
  columns: NAME_AND_AGE,
  strategy: STORED,
  ...row,
});

export const BUILTIN: readonly ResourceDefinition[] = [
  ...CORE.map((row) => definition('', row)),
  ...Object.entries(GROUPED).flatMap(([group, rows]) => rows.map((row) => definition(group, row))),
];
