/** Who administers a namespace makes networks there, and cannot take what belongs to others. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NAD_ANNOTATIONS, UDN_FINALIZER } from '../../../api/names.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  USER_DEFINED_NETWORKS,
} from '../../../api/resources.ts';
import { NAMESPACES, PODS } from '../../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../../kube/types.ts';
import { eventually, refusal } from '../../conformance/kube/harness.ts';
import {
  type AdmissionCluster,
  type Attempt,
  annotations,
  byPolicy,
  nad,
  nadOf,
  networkOf,
  pod,
  podOf,
  type Refused,
  SERVICE_ACCOUNT,
  udn,
} from './cluster.ts';

const rbac = (plural: string, kind: string): ResourceType => ({
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind, namespaced: true },
});

const NETWORKS = 'k8s.ovn.org/pod-networks';
const DEFAULT_NETWORK = 'v1.multus-cni.io/default-network';
const ASKED = { [DEFAULT_NETWORK]: '[{"namespace":"ovn-kubernetes","name":"default","mac":"02:00:00:00:00:01"}]' };
const POD_ALLOCATION = byPolicy('ovn-udn-pods', 'the annotation k8s.ovn.org/pod-networks is written by ovn-udn alone');
const NETWORK_ALLOCATION = byPolicy('ovn-udn-network-allocations', 'the annotations k8s.ovn.org/network-id');
const DEFAULT_NETWORK_STAYS = byPolicy(
  'default-network-annotation',
  "The 'v1.multus-cni.io/default-network' annotation cannot be changed after the pod was created",
);

/** A service account of `red` with a role there. */
const grant = async ({ admin, account }: AdmissionCluster, name: string, role: string): Promise<KubeClient> => {
  const metadata = { namespace: 'red', name };
  await admin.create(SERVICE_ACCOUNT, { metadata });
  await bind(admin, name, { kind: 'ClusterRole', name: role });
  return await account('red', name);
};

const bind = (admin: KubeClient, account: string, role: { readonly kind: string; readonly name: string }) =>
  admin.create(rbac('rolebindings', 'RoleBinding'), {
    metadata: { namespace: 'red', name: `${account}-${role.name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...role },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'red' }],
  });

export const tenantCases = (cluster: () => AdmissionCluster): void => {
  let tenant: KubeClient;
  let viewer: KubeClient;
  /** May write NADs too, as clusters allow that have had them for long. */
  let veteran: KubeClient;
  beforeAll(async () => {
    const { admin } = cluster();
    tenant = await grant(cluster(), 'tenant', 'admin');
    viewer = await grant(cluster(), 'viewer', 'view');
    veteran = await grant(cluster(), 'veteran', 'edit');
    await admin.create(rbac('roles', 'Role'), {
      metadata: { namespace: 'red', name: 'nads' },
      rules: [
        {
          apiGroups: ['k8s.cni.cncf.io'],
          resources: ['network-attachment-definitions'],
          verbs: ['create', 'patch', 'update'],
        },
      ],
    });
    await bind(admin, 'veteran', { kind: 'Role', name: 'nads' });
    // The controller manager puts the rules into the roles.
    await eventually(() => tenant.create(USER_DEFINED_NETWORKS, networkOf('red', 'probe'), { dryRun: true }));
    await eventually(() => viewer.list(NETWORK_ATTACHMENT_DEFINITIONS, { namespace: 'red' }));
    await admin.create(USER_DEFINED_NETWORKS, {
      ...networkOf('red', 'held'),
      metadata: { namespace: 'red', name: 'held', finalizers: [UDN_FINALIZER] },
    });
    await admin.create(PODS, podOf('placed', { nodeName: 'node-1' }, { [NETWORKS]: '{}', ...ASKED }));
    await admin.create(NETWORK_ATTACHMENT_DEFINITIONS, nadOf('numbered', { [NAD_ANNOTATIONS.networkId]: '7' }));
  });

  describe('a tenant may', () => {
    const may: readonly Attempt[] = [
      { name: 'make a network', attempt: () => tenant.create(USER_DEFINED_NETWORKS, networkOf('red', 'mine')) },
      { name: 'label it', attempt: () => udn('red', 'mine')(tenant, { metadata: { labels: { a: 'b' } } }) },
      { name: 'put a finalizer of its own on one', attempt: () => udn('red', 'held')(tenant, heldBy('example.com/a')) },
      { name: 'take that away', attempt: () => udn('red', 'held')(tenant, heldBy()) },
      {
        name: 'delete its network',
        attempt: () => tenant.delete(USER_DEFINED_NETWORKS, { namespace: 'red', name: 'mine' }),
      },
      {
        name: 'read NADs',
        attempt: () => tenant.get(NETWORK_ATTACHMENT_DEFINITIONS, { namespace: 'red', name: 'numbered' }),
      },
      {
        name: 'make a pod that asks for an address',
        attempt: () => tenant.create(PODS, podOf('asking', {}, ASKED)),
      },
      {
        name: 'change its pod otherwise',
        attempt: () => pod('placed')(tenant, annotations({ 'k8s.ovn.org/open-default-ports': '[]' })),
      },
      { name: 'see networks, as a viewer', attempt: () => viewer.list(USER_DEFINED_NETWORKS, { namespace: 'red' }) },
      {
        name: 'make a NAD, where it may at all',
        attempt: () => veteran.create(NETWORK_ATTACHMENT_DEFINITIONS, nadOf('by-hand')),
      },
      {
        name: 'change a NAD but for its ids',
        attempt: () => nad('numbered')(veteran, annotations({ 'example.com/a': 'b' })),
      },
    ];
    it.each(may)('$name', async ({ attempt }) => {
      await expect(attempt()).resolves.toBeDefined();
    });
  });

  const ofPods: readonly Refused[] = [
    {
      name: 'give its pod addresses',
      attempt: () => pod('own')(tenant, annotations({ [NETWORKS]: '{"default":{}}' })),
      message: POD_ALLOCATION,
    },
    {
      name: 'take the addresses of its pod away',
      attempt: () => pod('placed')(tenant, annotations({ [NETWORKS]: null })),
      message: POD_ALLOCATION,
    },
    {
      name: 'make a pod that has addresses',
      attempt: () => tenant.create(PODS, podOf('faked', {}, { [NETWORKS]: '{}' })),
      message: byPolicy('ovn-udn-new-pods', 'the annotation k8s.ovn.org/pod-networks is written by ovn-udn alone'),
    },
    {
      name: 'ask for an address afterwards',
      attempt: () => pod('own')(tenant, annotations(ASKED)),
      message: DEFAULT_NETWORK_STAYS,
    },
    {
      name: 'ask for another address afterwards',
      attempt: () => pod('placed')(tenant, annotations({ [DEFAULT_NETWORK]: '[]' })),
      message: DEFAULT_NETWORK_STAYS,
    },
    {
      name: 'ask for no address afterwards',
      attempt: () => pod('placed')(tenant, annotations({ [DEFAULT_NETWORK]: null })),
      message: DEFAULT_NETWORK_STAYS,
    },
  ];
  const ofNetworks: readonly Refused[] = [
    {
      name: 'make a network in another namespace',
      attempt: () => tenant.create(USER_DEFINED_NETWORKS, networkOf('blue', 'mine')),
      message: 'cannot create resource "userdefinednetworks"',
    },
    {
      name: 'make a network of the cluster',
      attempt: () => {
        const network = { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.1.0.0/16'] } };
        const spec = { namespaceSelector: { matchLabels: { a: 'b' } }, network };
        return tenant.create(CLUSTER_USER_DEFINED_NETWORKS, { metadata: { name: 'mine' }, spec });
      },
      message: 'cannot create resource "clusteruserdefinednetworks"',
    },
    {
      name: 'say how its network is',
      attempt: () => udn('red', 'held')(tenant, { status: { conditions: [] } }, 'status'),
      message: 'cannot patch resource "userdefinednetworks/status"',
    },
    {
      name: 'let its network go while pods use it',
      attempt: () => udn('red', 'held')(tenant, { metadata: { finalizers: [] } }),
      message: byPolicy('ovn-udn-finalizers', `the finalizer ${UDN_FINALIZER} is removed by ovn-udn alone`),
    },
    {
      name: 'make a NAD',
      attempt: () => tenant.create(NETWORK_ATTACHMENT_DEFINITIONS, nadOf('mine')),
      message: 'cannot create resource "network-attachment-definitions"',
    },
    {
      name: 'label its namespace',
      attempt: () =>
        tenant.patch(
          NAMESPACES,
          { name: 'red' },
          { type: 'merge', body: { metadata: { labels: { 'k8s.ovn.org/primary-user-defined-network': '' } } } },
        ),
      message: 'cannot patch resource "namespaces"',
    },
    {
      name: 'make a network, as a viewer',
      attempt: () => viewer.create(USER_DEFINED_NETWORKS, networkOf('red', 'viewed')),
      message: 'cannot create resource "userdefinednetworks"',
    },
  ];
  const ofNads: readonly Refused[] = Object.values(NAD_ANNOTATIONS).flatMap((key) => [
    {
      name: `make a NAD with ${key}`,
      attempt: () => veteran.create(NETWORK_ATTACHMENT_DEFINITIONS, nadOf('chosen', { [key]: '1' })),
      message: NETWORK_ALLOCATION,
    },
    {
      name: `write ${key} of a NAD`,
      attempt: () => nad('numbered')(veteran, annotations({ [key]: '1' })),
      message: NETWORK_ALLOCATION,
    },
  ]);
  describe('a tenant may not', () => {
    it.each([
      ...ofPods,
      ...ofNetworks,
      ...ofNads,
      {
        name: 'take the id of a NAD away',
        attempt: () => nad('numbered')(veteran, annotations({ [NAD_ANNOTATIONS.networkId]: null })),
        message: NETWORK_ALLOCATION,
      },
    ])('$name', async ({ attempt, message }) => {
      expect((await refusal(attempt())).message).toContain(message);
    });
  });
};

const heldBy = (...more: readonly string[]) => ({ metadata: { finalizers: [UDN_FINALIZER, ...more] } });
