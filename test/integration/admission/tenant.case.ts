/** Who administers a namespace makes networks there, and cannot take what belongs to others. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NAD_ANNOTATIONS, UDN_FINALIZER } from '../../../api/names.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../../api/resources.ts';
import { NAMESPACES, PODS } from '../../../kube/resources.ts';
import type { KubeClient, ObjectInput, ResourceType } from '../../../kube/types.ts';
import { eventually, refusal } from '../../conformance/kube/harness.ts';
import {
  type AdmissionCluster,
  type Attempt,
  annotations,
  byPolicy,
  nad,
  nadOf,
  networkOf,
  node,
  pod,
  podOf,
  type Refused,
  SERVICE_ACCOUNT,
  udn,
} from './cluster.ts';

const rbac = (plural: string, kind: string): ResourceType => ({
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind, namespaced: true },
});

const NETWORK_STATUS = 'k8s.v1.cni.cncf.io/network-status';
const NETWORKS = 'k8s.ovn.org/pod-networks';
const DEFAULT_NETWORK = 'v1.multus-cni.io/default-network';
const ASKED = { [DEFAULT_NETWORK]: '[{"namespace":"ovn-kubernetes","name":"default","mac":"02:00:00:00:00:01"}]' };
const POD_ALLOCATION = byPolicy(
  'ovn-udn-pods',
  'the annotation k8s.ovn.org/pod-networks may be written by ovn-udn only',
);
const NETWORK_ALLOCATION = byPolicy('ovn-udn-network-allocations', 'the annotations k8s.ovn.org/network-config');
const DEFAULT_NETWORK_STAYS = byPolicy(
  'default-network-annotation',
  "The 'v1.multus-cni.io/default-network' annotation cannot be changed after the pod was created",
);

const claimOf = (namespace: string, name: string): ObjectInput => ({
  metadata: { namespace, name },
  spec: { network: 'red_held', interface: 'net1' },
});
const claim =
  (name: string, namespace = 'red') =>
  (client: KubeClient, body: unknown, subresource?: string) =>
    client.patch(IPAM_CLAIMS, { namespace, name }, { type: 'merge', body }, { subresource });
const TAKEN = { status: { ips: ['10.1.0.5/16'] } };

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
    for (const name of ['held', 'replaced', 'going']) {
      const metadata = { namespace: 'red', name, finalizers: [UDN_FINALIZER] };
      await admin.create(USER_DEFINED_NETWORKS, { ...networkOf('red', name), metadata });
    }
    await admin.delete(USER_DEFINED_NETWORKS, { namespace: 'red', name: 'going' });
    await admin.create(IPAM_CLAIMS, claimOf('red', 'kept'));
    await admin.create(IPAM_CLAIMS, claimOf('blue', 'kept'));
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
        name: 'replace one by a manifest, which has no finalizer',
        attempt: () => udn('red', 'replaced')(tenant, { metadata: { finalizers: [] } }),
      },
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
      {
        name: 'claim addresses that outlive its pods',
        attempt: () => tenant.create(IPAM_CLAIMS, claimOf('red', 'mine')),
      },
      { name: 'label a claim', attempt: () => claim('mine')(tenant, { metadata: { labels: { a: 'b' } } }) },
      { name: 'give a claim back', attempt: () => tenant.delete(IPAM_CLAIMS, { namespace: 'red', name: 'mine' }) },
      { name: 'see claims, as a viewer', attempt: () => viewer.list(IPAM_CLAIMS, { namespace: 'red' }) },
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

  describe('a status that a tenant sends', () => {
    const NUMBERED = { status: { networkID: 7, subnets: ['10.9.0.0/16'] } };
    it.each([
      [
        'a network',
        'that it makes',
        () => tenant.create(USER_DEFINED_NETWORKS, { ...networkOf('red', 's'), ...NUMBERED }),
      ],
      ['a network', 'that it changes', () => udn('red', 'held')(tenant, NUMBERED)],
      ['a claim', 'that it makes', () => tenant.create(IPAM_CLAIMS, { ...claimOf('red', 's'), ...TAKEN })],
      ['a claim', 'that it changes', () => claim('kept')(tenant, TAKEN)],
    ])('with %s %s is dropped', async (_, __, send) => {
      expect((await send())['status']).toBeUndefined();
    });

    it('with a pod that it makes or changes is dropped', async () => {
      const status = { phase: 'Running', podIP: '10.1.0.5', podIPs: [{ ip: '10.1.0.5' }] };
      const made = await tenant.create(PODS, { ...podOf('claims-to-run', { nodeName: 'node-1' }), status });
      const changed = await pod('placed')(tenant, { status });
      for (const one of [made, changed]) {
        expect(one['status']).toMatchObject({ phase: 'Pending' });
        expect(one['status']).not.toHaveProperty('podIP');
      }
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
      message: byPolicy('ovn-udn-new-pods', 'the annotation k8s.ovn.org/pod-networks may be written by ovn-udn only'),
    },
    {
      name: 'say what its pod is attached to',
      attempt: () => pod('own')(tenant, annotations({ [NETWORK_STATUS]: '[{"name":"red/storage"}]' })),
      message: byPolicy('ovn-udn-pods', `the annotation ${NETWORK_STATUS} may be written by ovn-udn only`),
    },
    {
      name: 'make a pod that is attached already',
      attempt: () => tenant.create(PODS, podOf('attached', {}, { [NETWORK_STATUS]: '[]' })),
      message: byPolicy('ovn-udn-new-pods', `the annotation ${NETWORK_STATUS} may be written by ovn-udn only`),
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
      attempt: () => udn('red', 'going')(tenant, { metadata: { finalizers: [] } }),
      message: byPolicy('ovn-udn-finalizers', `the finalizer ${UDN_FINALIZER} may be removed by ovn-udn only`),
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
  const ofClaims: readonly Refused[] = [
    {
      name: 'say which addresses its claim has',
      attempt: () => claim('kept')(tenant, TAKEN, 'status'),
      message: 'cannot patch resource "ipamclaims/status"',
    },
    {
      name: 'claim addresses in another namespace',
      attempt: () => tenant.create(IPAM_CLAIMS, claimOf('blue', 'mine')),
      message: 'cannot create resource "ipamclaims"',
    },
    {
      name: 'give a claim of another namespace back',
      attempt: () => tenant.delete(IPAM_CLAIMS, { namespace: 'blue', name: 'kept' }),
      message: 'cannot delete resource "ipamclaims"',
    },
    {
      name: 'let a claim be of another network',
      attempt: () => claim('kept')(tenant, { spec: { network: 'blue_net' } }),
      message: 'Network is immutable',
    },
    {
      name: 'claim addresses, as a viewer',
      attempt: () => viewer.create(IPAM_CLAIMS, claimOf('red', 'viewed')),
      message: 'cannot create resource "ipamclaims"',
    },
  ];
  const ofStatus: readonly Refused[] = [
    {
      name: 'say how its pod is, and which addresses it has',
      attempt: () => pod('placed')(tenant, { status: { podIP: '10.1.0.5' } }, 'status'),
      message: 'cannot patch resource "pods/status"',
    },
    {
      name: 'say how a network of the cluster is',
      attempt: () =>
        tenant.patch(
          CLUSTER_USER_DEFINED_NETWORKS,
          { name: 'any' },
          { type: 'merge', body: { status: { networkID: 7 } } },
          { subresource: 'status' },
        ),
      message: 'cannot patch resource "clusteruserdefinednetworks/status"',
    },
    {
      name: 'say what a node has of networks',
      attempt: () => tenant.create(NODE_NETWORK_REPORTS, { metadata: { name: 'node-1' } }),
      message: 'cannot create resource "nodenetworkreports"',
    },
    {
      name: 'see what nodes have of the networks of others',
      attempt: () => tenant.list(NODE_NETWORK_REPORTS),
      message: 'cannot list resource "nodenetworkreports"',
    },
    {
      name: 'change a node',
      attempt: () => node('node-1')(tenant, annotations({ 'example.com/a': 'b' })),
      message: 'cannot patch resource "nodes"',
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
      ...ofClaims,
      ...ofStatus,
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
