/** The cluster manager writes what it gives out, on nodes, pods and NADs, and nothing else of them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { IPAM_CLAIM_FINALIZER, NAD_ANNOTATIONS, NODE_ANNOTATIONS, UDN_FINALIZER } from '../../../api/names.ts';
import { IPAM_CLAIMS, NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../../api/resources.ts';
import { CONFIG_MAPS, LEASES, NODES, PODS, SECRETS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { refusal } from '../../conformance/kube/harness.ts';
import {
  type AdmissionCluster,
  type Attempt,
  annotations,
  byPolicy,
  nad,
  nadOf,
  networkOf,
  node,
  PROJECT,
  pod,
  podOf,
  type Refused,
  udn,
} from './cluster.ts';

const GIVEN = {
  [NODE_ANNOTATIONS.subnets]: '{"default":["10.128.0.0/23"]}',
  [NODE_ANNOTATIONS.id]: '2',
  [NODE_ANNOTATIONS.transitAddresses]: '{"ipv4":"100.88.0.2/16"}',
};
const IDS = {
  [NAD_ANNOTATIONS.networkId]: '1',
  [NAD_ANNOTATIONS.networkName]: 'red_net',
  [NAD_ANNOTATIONS.networkConfig]: '{}',
};
const NAD = { namespace: 'red', name: 'of-the-manager' };

export const clusterManagerCases = (cluster: () => AdmissionCluster): void => {
  let manager: KubeClient;
  beforeAll(async () => {
    manager = await cluster().account(PROJECT, 'udn-cluster-manager');
    await cluster().admin.create(USER_DEFINED_NETWORKS, networkOf('red', 'managed'));
    await cluster().admin.create(IPAM_CLAIMS, {
      metadata: { namespace: 'red', name: 'managed' },
      spec: { network: 'red_managed', interface: 'net1' },
    });
  });
  const claim = (body: unknown, subresource?: string) =>
    manager.patch(IPAM_CLAIMS, { namespace: 'red', name: 'managed' }, { type: 'merge', body }, { subresource });
  const condition = (fields: Readonly<Record<string, string>>) =>
    manager.patch(
      NODES,
      { name: 'node-2' },
      {
        type: 'apply',
        body: { metadata: { name: 'node-2' }, status: { conditions: [{ type: 'NetworkUnavailable', ...fields }] } },
        fieldManager: 'udn-cluster-manager',
        force: true,
      },
      { subresource: 'status' },
    );
  const finalizers = (list: readonly string[]) => ({ metadata: { finalizers: list } });

  describe('the cluster manager may', () => {
    const may: readonly Attempt[] = [
      { name: 'give a node its part', attempt: () => node('node-1')(manager, annotations(GIVEN)) },
      { name: 'give another one its part', attempt: () => node('node-2')(manager, annotations(GIVEN)) },
      {
        name: 'take it back',
        attempt: () => node('node-2')(manager, annotations({ [NODE_ANNOTATIONS.subnets]: null })),
      },
      {
        name: 'say that the agent of a node is silent',
        attempt: () => condition({ status: 'True', reason: 'AgentNotReporting' }),
      },
      {
        name: 'say that a node is excluded',
        attempt: () => condition({ status: 'False', reason: 'NodeExcluded' }),
      },
      {
        name: 'give a pod addresses',
        attempt: () => pod('other')(manager, annotations({ 'k8s.ovn.org/pod-networks': '{}' })),
      },
      {
        name: 'make a NAD with ids',
        attempt: () => {
          const { metadata, spec } = nadOf(NAD.name, IDS);
          const kind = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' };
          const body = { ...kind, metadata: { ...metadata, ...finalizers([UDN_FINALIZER]).metadata }, spec };
          const patch = { type: 'apply', body, fieldManager: 'udn-cluster-manager' } as const;
          return manager.patch(NETWORK_ATTACHMENT_DEFINITIONS, NAD, patch);
        },
      },
      { name: 'take its finalizer away', attempt: () => nad(NAD.name)(manager, finalizers([])) },
      { name: 'delete it', attempt: () => manager.delete(NETWORK_ATTACHMENT_DEFINITIONS, NAD) },
      { name: 'hold a network', attempt: () => udn('red', 'managed')(manager, finalizers([UDN_FINALIZER])) },
      {
        name: 'say how a network is',
        attempt: () => udn('red', 'managed')(manager, { status: { conditions: [] } }, 'status'),
      },
      { name: 'let it go', attempt: () => udn('red', 'managed')(manager, finalizers([])) },
      { name: 'hold a claim', attempt: () => claim(finalizers([IPAM_CLAIM_FINALIZER])) },
      { name: 'say what a claim has', attempt: () => claim({ status: { ips: ['10.1.0.3/16'] } }, 'status') },
      { name: 'let a claim go', attempt: () => claim(finalizers([])) },
    ];
    it.each(may)('$name', async ({ attempt }) => {
      await expect(attempt()).resolves.toBeDefined();
    });
  });

  const nodes = (message: string) => byPolicy('ovn-udn-nodes', message);
  const pods = (message: string) => byPolicy('ovn-udn-pods', message);
  const mayNot: readonly Refused[] = [
    {
      name: 'taint a node',
      attempt: () => node('node-1')(manager, { spec: { unschedulable: true } }),
      message: nodes('the cluster manager may change nothing of a node but annotations and that its agent is silent'),
    },
    {
      name: 'say that a node is ready',
      attempt: () => condition({ type: 'Ready', status: 'False', reason: 'AgentNotReporting' }),
      message: nodes('the cluster manager may change nothing of a node but annotations and that its agent is silent'),
    },
    {
      name: 'say that packets do not fit tunnels',
      attempt: () => condition({ type: 'NetworkMTUTooLarge', status: 'True', reason: 'AgentNotReporting' }),
      message: nodes('the cluster manager may change nothing of a node but annotations and that its agent is silent'),
    },
    {
      name: 'say what agents say of their node',
      attempt: () => condition({ status: 'False', reason: 'OVNUDNIsUp' }),
      message: nodes('the cluster manager may change nothing of a node but annotations and that its agent is silent'),
    },
    {
      name: 'label a node',
      attempt: () => node('node-1')(manager, { metadata: { labels: { a: 'b' } } }),
      message: nodes('the cluster manager may change nothing of a node but annotations and that its agent is silent'),
    },
    {
      name: 'say which chassis a node has',
      attempt: () => node('node-1')(manager, annotations({ [NODE_ANNOTATIONS.chassisId]: 'x' })),
      message: nodes('the cluster manager may not change the annotations k8s.ovn.org/node-chassis-id'),
    },
    {
      name: 'give a pod another image',
      attempt: () =>
        manager.patch(
          PODS,
          { namespace: 'red', name: 'own' },
          { type: 'json', operations: [{ op: 'replace', path: '/spec/containers/0/image', value: 'evil' }] },
        ),
      message: pods('the cluster manager may change nothing of a pod but annotations'),
    },
    {
      name: 'write another annotation of a pod',
      attempt: () => pod('own')(manager, annotations({ 'example.com/a': 'b' })),
      message: pods('the cluster manager may not change the annotations example.com/a'),
    },
    {
      name: 'say what a pod is attached to',
      attempt: () => pod('own')(manager, annotations({ 'k8s.v1.cni.cncf.io/network-status': '[]' })),
      message: pods('the cluster manager may not change the annotations k8s.v1.cni.cncf.io/network-status'),
    },
    { name: 'make a pod', attempt: () => manager.create(PODS, podOf('made', {})), message: 'cannot create resource' },
    { name: 'read Secrets', attempt: () => manager.list(SECRETS), message: 'cannot list resource "secrets"' },
    { name: 'read ConfigMaps', attempt: () => manager.list(CONFIG_MAPS), message: 'cannot list resource "configmaps"' },
    {
      name: 'hold the Lease of another',
      attempt: () => manager.get(LEASES, { namespace: PROJECT, name: 'another' }),
      message: 'cannot get resource "leases"',
    },
    {
      name: 'make a claim',
      attempt: () => manager.create(IPAM_CLAIMS, { metadata: { namespace: 'red', name: 'made' }, spec: {} }),
      message: 'cannot create resource "ipamclaims"',
    },
    {
      name: 'make a network',
      attempt: () => manager.create(USER_DEFINED_NETWORKS, networkOf('red', 'made')),
      message: 'cannot create resource "userdefinednetworks"',
    },
  ];
  describe('the cluster manager may not', () => {
    it.each(mayNot)('$name', async ({ attempt, message }) => {
      expect((await refusal(attempt())).message).toContain(message);
    });
  });
};
