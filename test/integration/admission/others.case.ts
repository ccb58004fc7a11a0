/** Kubernetes’ own programs and cluster administrators: what the policies keep even from them, and what they let pass. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NODE_ANNOTATIONS, PRIMARY_NETWORK_LABEL } from '../../../api/names.ts';
import { NAMESPACES, NODES, PODS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { refusal } from '../../conformance/kube/harness.ts';
import {
  type AdmissionCluster,
  type Attempt,
  annotations,
  byPolicy,
  node,
  pod,
  podOf,
  type Refused,
} from './cluster.ts';

const NETWORKS = 'k8s.ovn.org/pod-networks';
const ALLOCATION = byPolicy('ovn-udn-new-pods', 'the annotation k8s.ovn.org/pod-networks');
const LABEL_STAYS = byPolicy(
  'user-defined-networks-namespace-label',
  "The 'k8s.ovn.org/primary-user-defined-network' label cannot be added/removed after the namespace was created",
);

export const otherCases = (cluster: () => AdmissionCluster): void => {
  let admin: KubeClient;
  let kubelet: KubeClient;
  let newKubelet: KubeClient;
  let replicaSets: KubeClient;
  let scheduler: KubeClient;
  beforeAll(async () => {
    admin = cluster().admin;
    kubelet = await cluster().impersonate('system:node:node-1', ['system:nodes', 'system:authenticated']);
    newKubelet = await cluster().impersonate('system:node:node-9', ['system:nodes', 'system:authenticated']);
    replicaSets = await cluster().impersonate('system:serviceaccount:kube-system:replicaset-controller');
    scheduler = await cluster().impersonate('system:kube-scheduler');
    await admin.create(NAMESPACES, { metadata: { name: 'labelled', labels: { [PRIMARY_NETWORK_LABEL]: '' } } });
    await admin.create(PODS, podOf('to-bind', {}));
  });

  const label = (name: string, labels: Readonly<Record<string, string | null>>, subresource?: string) =>
    admin.patch(NAMESPACES, { name }, { type: 'merge', body: { metadata: { labels } } }, { subresource });
  const bindTo = (entries: Readonly<Record<string, string>>) =>
    scheduler.request({
      method: 'POST',
      path: '/api/v1/namespaces/red/pods/to-bind/binding',
      body: {
        ...{ apiVersion: 'v1', kind: 'Binding', metadata: { namespace: 'red', name: 'to-bind', annotations: entries } },
        target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
      },
    });
  const made = (name: string, entries: Readonly<Record<string, string>>) =>
    replicaSets.create(PODS, podOf(name, {}, entries));

  const mayNot: readonly Refused[] = [
    {
      name: 'an administrator: label a namespace',
      attempt: () => label('red', { [PRIMARY_NETWORK_LABEL]: '' }),
      message: LABEL_STAYS,
    },
    {
      name: 'an administrator: label a namespace with its status',
      attempt: () => label('red', { [PRIMARY_NETWORK_LABEL]: '' }, 'status'),
      message: LABEL_STAYS,
    },
    {
      name: 'an administrator: take the label of a namespace away',
      attempt: () => label('labelled', { [PRIMARY_NETWORK_LABEL]: null }),
      message: LABEL_STAYS,
    },
    {
      name: 'a kubelet: choose the subnets of its node',
      attempt: () => node('node-1')(kubelet, annotations({ [NODE_ANNOTATIONS.subnets]: '{"default":["10.0.0.0/8"]}' })),
      message: byPolicy('ovn-udn-nodes', 'the annotations k8s.ovn.org/node-subnets'),
    },
    {
      name: 'a kubelet: choose them with the status of its node',
      attempt: () => node('node-1')(kubelet, annotations({ [NODE_ANNOTATIONS.id]: '9' }), 'status'),
      message: byPolicy('ovn-udn-nodes', 'the annotations k8s.ovn.org/node-subnets'),
    },
    {
      name: 'a kubelet: choose the subnets of the Node that it makes',
      attempt: () =>
        newKubelet.create(NODES, { metadata: { name: 'node-9', annotations: { [NODE_ANNOTATIONS.subnets]: '{}' } } }),
      message: byPolicy('ovn-udn-new-nodes', 'the annotations k8s.ovn.org/node-subnets'),
    },
    {
      name: 'a controller: make a pod from a template that has addresses',
      attempt: () => made('of-a-template', { [NETWORKS]: '{}' }),
      message: ALLOCATION,
    },
    {
      name: 'a scheduler: bind a pod and its addresses',
      attempt: () => bindTo({ [NETWORKS]: '{}' }),
      message: ALLOCATION,
    },
    {
      name: 'a scheduler: bind a pod and ask for an address',
      attempt: () => bindTo({ 'v1.multus-cni.io/default-network': '[]' }),
      message: byPolicy('default-network-annotation', "The 'v1.multus-cni.io/default-network' annotation"),
    },
  ];
  describe('refused', () => {
    it.each(mayNot)('$name', async ({ attempt, message }) => {
      expect((await refusal(attempt())).message).toContain(message);
    });
  });

  const may: readonly Attempt[] = [
    { name: 'an administrator: another label of a namespace', attempt: () => label('labelled', { team: 'a' }) },
    { name: 'an administrator: no label', attempt: () => label('labelled', { team: null }) },
    {
      name: 'an administrator: another value of the label',
      attempt: () => label('labelled', { [PRIMARY_NETWORK_LABEL]: 'yes' }),
    },
    {
      name: 'an administrator: repair the addresses of a pod',
      attempt: () => pod('own')(admin, annotations({ [NETWORKS]: '{}' })),
    },
    {
      name: 'an administrator: repair the subnets of a node',
      attempt: () => node('node-1')(admin, annotations({ [NODE_ANNOTATIONS.subnets]: '{}' })),
    },
    {
      name: 'an administrator: take the chassis of a node away',
      attempt: () => node('node-1')(admin, annotations({ [NODE_ANNOTATIONS.chassisId]: null })),
    },
    {
      name: 'a kubelet: annotate its node',
      attempt: () => node('node-1')(kubelet, annotations({ 'example.com/kubelet': 'x' })),
    },
    {
      name: 'a kubelet: the status of its node',
      attempt: () => node('node-1')(kubelet, { status: { capacity: { cpu: '4' } } }, 'status'),
    },
    {
      name: 'who writes statuses of pods, as Multus does: what it has attached a pod to',
      attempt: () => pod('own')(admin, annotations({ 'k8s.v1.cni.cncf.io/network-status': '[]' }), 'status'),
    },
    {
      name: 'a kubelet: the status of its pod',
      attempt: () => pod('own')(kubelet, { status: { phase: 'Running' } }, 'status'),
    },
    {
      name: 'a kubelet: make its Node',
      attempt: () => newKubelet.create(NODES, { metadata: { name: 'node-9' } }),
    },
    { name: 'a controller: make a pod', attempt: () => made('made', {}) },
    { name: 'a scheduler: bind a pod', attempt: () => bindTo({}) },
    { name: 'an administrator: delete a namespace', attempt: () => admin.delete(NAMESPACES, { name: 'labelled' }) },
  ];
  describe('allowed', () => {
    it.each(may)('$name', async ({ attempt }) => {
      await expect(attempt()).resolves.toBeDefined();
    });
  });
};
