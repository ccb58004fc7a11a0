/** An agent writes of its own node and of its own pods the annotations that it owns, and nothing else. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NODE_ANNOTATIONS } from '../../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../../api/resources.ts';
import { CONFIG_MAPS, EVENTS, LEASES, NODES, PODS, SECRETS } from '../../../kube/resources.ts';
import type { KubeClient, ObjectInput } from '../../../kube/types.ts';
import { refusal } from '../../conformance/kube/harness.ts';
import {
  type AdmissionCluster,
  type Attempt,
  annotations,
  byPolicy,
  nad,
  nadOf,
  node,
  PROJECT,
  pod,
  podOf,
  type Refused,
} from './cluster.ts';

const FIRST = {
  [NODE_ANNOTATIONS.chassisId]: 'chassis-1',
  [NODE_ANNOTATIONS.encapIps]: '["192.0.2.1"]',
  [NODE_ANNOTATIONS.zoneName]: 'node-1',
  [NODE_ANNOTATIONS.gatewayConfig]: '{"default":{"mode":"shared"}}',
  [NODE_ANNOTATIONS.primaryAddresses]: '{"ipv4":"192.0.2.1/24"}',
  [NODE_ANNOTATIONS.hostCidrs]: '["192.0.2.1/24"]',
  [NODE_ANNOTATIONS.masqueradeSubnets]: '{"ipv4":"169.254.0.0/17"}',
  [NODE_ANNOTATIONS.gatewayMtuSupport]: 'false',
};
const NETWORKS = 'k8s.ovn.org/pod-networks';
const NETWORK_STATUS = 'k8s.v1.cni.cncf.io/network-status';

const eventOf = (host: string, component = 'udn-agent'): ObjectInput => ({
  metadata: { namespace: 'red', name: `told-by-${component}-of-${host}` },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'red', name: 'own' },
  ...{ type: 'Warning', reason: 'ForTheTest', message: 'm', source: { component, host } },
});

export const agentCases = (cluster: () => AdmissionCluster): void => {
  let agent: KubeClient;
  beforeAll(async () => {
    agent = await cluster().account(PROJECT, 'udn-agent', 'node-1');
    await node('node-1')(cluster().admin, annotations({ 'example.com/theirs': 'x' }));
    await cluster().admin.create(EVENTS, eventOf('node-2'));
    await cluster().admin.create(NETWORK_ATTACHMENT_DEFINITIONS, nadOf('of-the-agent-tests'));
  });
  const apply = (name: string, entries: Readonly<Record<string, string>>) => {
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, annotations: entries } };
    return agent.patch(NODES, { name }, { type: 'apply', body, fieldManager: 'udn-agent', force: true });
  };

  const applyCondition = (name: string, type: string) =>
    agent.patch(
      NODES,
      { name },
      {
        type: 'apply',
        body: { metadata: { name }, status: { conditions: [{ type, status: 'True', reason: 'A', message: 'b' }] } },
        fieldManager: 'udn-agent',
        force: true,
      },
      { subresource: 'status' },
    );

  describe('an agent may', () => {
    const may: readonly Attempt[] = [
      { name: 'say what its node is', attempt: () => apply('node-1', FIRST) },
      {
        name: 'change that, but for the chassis',
        attempt: () => apply('node-1', { ...FIRST, [NODE_ANNOTATIONS.encapIps]: '["192.0.2.7"]' }),
      },
      {
        name: 'take it away, but for the chassis',
        attempt: () => apply('node-1', { [NODE_ANNOTATIONS.chassisId]: 'chassis-1' }),
      },
      { name: 'say that its network is unavailable', attempt: () => applyCondition('node-1', 'NetworkUnavailable') },
      {
        name: 'say that packets do not fit its tunnels',
        attempt: () => applyCondition('node-1', 'NetworkMTUTooLarge'),
      },
      { name: 'give its pod addresses', attempt: () => pod('own')(agent, annotations({ [NETWORKS]: '{}' })) },
      {
        name: 'say what its pod is attached to',
        attempt: () => pod('own')(agent, annotations({ [NETWORK_STATUS]: '[]' })),
      },
      { name: 'take that back', attempt: () => pod('own')(agent, annotations({ [NETWORK_STATUS]: null })) },
      { name: 'take them back', attempt: () => pod('own')(agent, annotations({ [NETWORKS]: null })) },
      { name: 'read a pod of another node', attempt: () => agent.get(PODS, { namespace: 'red', name: 'other' }) },
      { name: 'tell something of a pod', attempt: () => agent.create(EVENTS, eventOf('node-1')) },
      {
        name: 'tell it again',
        attempt: () => {
          const ref = { namespace: 'red', name: 'told-by-udn-agent-of-node-1' };
          return agent.patch(EVENTS, ref, { type: 'merge', body: { count: 2 } });
        },
      },
    ];
    it.each(may)('$name', async ({ attempt }) => {
      await expect(attempt()).resolves.toBeDefined();
    });
  });

  const nodes = (message: string) => byPolicy('ovn-udn-nodes', message);
  const pods = (message: string) => byPolicy('ovn-udn-pods', message);
  const events = (message: string) => byPolicy('ovn-udn-agent-events', message);
  const onlyAnnotations = (what: 'node' | 'pod') =>
    `an agent may change nothing of a ${what} but annotations${what === 'node' ? ' and its conditions NetworkUnavailable and NetworkMTUTooLarge' : ''}`;
  const keys = (text: string) => `an agent may not change the annotations ${text}`;
  const CHASSIS = 'the annotation k8s.ovn.org/node-chassis-id cannot be changed once it is set';
  const OWN_EVENTS = 'an agent may write only events whose source is the agent of its node';

  const ofNodes: readonly Refused[] = [
    {
      name: 'say what another node is',
      attempt: () => node('node-2')(agent, annotations({ [NODE_ANNOTATIONS.encapIps]: '["192.0.2.1"]' })),
      message: nodes('the agent of the node node-1 may not change the node node-2'),
    },
    {
      name: 'change its chassis',
      attempt: () => node('node-1')(agent, annotations({ [NODE_ANNOTATIONS.chassisId]: 'chassis-2' })),
      message: nodes(CHASSIS),
    },
    {
      name: 'take its chassis away',
      attempt: () => node('node-1')(agent, annotations({ [NODE_ANNOTATIONS.chassisId]: null })),
      message: nodes(CHASSIS),
    },
    {
      name: 'be in another zone',
      attempt: () => node('node-1')(agent, annotations({ [NODE_ANNOTATIONS.zoneName]: 'node-2' })),
      message: nodes('the annotation k8s.ovn.org/zone-name must be the name of the node'),
    },
    ...['node-subnets', 'node-id', 'node-transit-switch-port-ifaddr'].map((key) => ({
      name: `write ${key} of its node`,
      attempt: () => node('node-1')(agent, annotations({ [`k8s.ovn.org/${key}`]: '{}' })),
      message: nodes(keys(`k8s.ovn.org/${key}`)),
    })),
    {
      name: 'take away what others wrote',
      attempt: () => node('node-1')(agent, annotations({ 'example.com/theirs': null, 'example.com/new': 'x' })),
      message: nodes(keys('example.com/new, example.com/theirs')),
    },
    {
      name: 'label its node',
      attempt: () => node('node-1')(agent, { metadata: { labels: { a: 'b' } } }),
      message: nodes(onlyAnnotations('node')),
    },
    {
      name: 'taint its node',
      attempt: () => node('node-1')(agent, { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } }),
      message: nodes(onlyAnnotations('node')),
    },
    {
      name: 'put a finalizer on its node',
      attempt: () => node('node-1')(agent, { metadata: { finalizers: ['example.com/never'] } }),
      message: nodes(onlyAnnotations('node')),
    },
    {
      name: 'write the status of its node',
      attempt: () => node('node-1')(agent, { status: { capacity: { cpu: '1' } } }, 'status'),
      message: nodes(onlyAnnotations('node')),
    },
    {
      name: 'say that its node is ready',
      attempt: () => applyCondition('node-1', 'Ready'),
      message: nodes(onlyAnnotations('node')),
    },
    {
      name: 'say that the network of another node is unavailable',
      attempt: () => applyCondition('node-2', 'NetworkUnavailable'),
      message: nodes('the agent of the node node-1 may not change the node node-2'),
    },
  ];

  const ofPods: readonly Refused[] = [
    {
      name: 'give a pod of another node addresses',
      attempt: () => pod('other')(agent, annotations({ [NETWORKS]: '{}' })),
      message: pods('the agent of the node node-1 may not change a pod of the node node-2'),
    },
    {
      name: 'say what a pod of another node is attached to',
      attempt: () => pod('other')(agent, annotations({ [NETWORK_STATUS]: '[]' })),
      message: pods('the agent of the node node-1 may not change a pod of the node node-2'),
    },
    {
      name: 'give a pod of no node addresses',
      attempt: () => pod('waiting')(agent, annotations({ [NETWORKS]: '{}' })),
      message: pods('the agent of the node node-1 may not change a pod of no node'),
    },
    {
      name: 'write another annotation of its pod',
      attempt: () => pod('own')(agent, annotations({ 'k8s.ovn.org/open-default-ports': '[]' })),
      message: pods(keys('k8s.ovn.org/open-default-ports')),
    },
    {
      name: 'label its pod',
      attempt: () => pod('own')(agent, { metadata: { labels: { app: 'another' } } }),
      message: pods(onlyAnnotations('pod')),
    },
    {
      name: 'give its pod another image',
      attempt: () =>
        agent.patch(
          PODS,
          { namespace: 'red', name: 'own' },
          { type: 'json', operations: [{ op: 'replace', path: '/spec/containers/0/image', value: 'evil' }] },
        ),
      message: pods(onlyAnnotations('pod')),
    },
    {
      name: 'write the status of its pod',
      attempt: () => pod('own')(agent, { status: { phase: 'Failed' } }, 'status'),
      message: 'cannot patch resource "pods/status"',
    },
    {
      name: 'make a pod',
      attempt: () => agent.create(PODS, podOf('made', { nodeName: 'node-1' })),
      message: 'cannot create resource "pods"',
    },
    {
      name: 'delete its pod',
      attempt: () => agent.delete(PODS, { namespace: 'red', name: 'own' }),
      message: 'cannot delete resource "pods"',
    },
    {
      name: 'run something in its pod',
      attempt: () => agent.request({ method: 'POST', path: '/api/v1/namespaces/red/pods/own/exec?command=id' }),
      message: 'cannot create resource "pods/exec"',
    },
  ];

  const others: readonly Refused[] = [
    {
      name: 'tell something in the name of another agent',
      attempt: () => agent.create(EVENTS, { ...eventOf('node-2'), metadata: { namespace: 'red', name: 'told' } }),
      message: events(OWN_EVENTS),
    },
    {
      name: 'tell something in the name of the kubelet',
      attempt: () => agent.create(EVENTS, eventOf('node-1', 'kubelet')),
      message: events(OWN_EVENTS),
    },
    {
      name: 'change what another agent told',
      attempt: () => {
        const body = { source: { host: 'node-1' }, message: 'changed' };
        return agent.patch(EVENTS, { namespace: 'red', name: 'told-by-udn-agent-of-node-2' }, { type: 'merge', body });
      },
      message: events(OWN_EVENTS),
    },
    {
      name: 'change a NAD',
      attempt: () => nad('of-the-agent-tests')(agent, annotations({ 'k8s.ovn.org/network-id': '1' })),
      message: 'cannot patch resource "network-attachment-definitions"',
    },
    { name: 'read Secrets', attempt: () => agent.list(SECRETS), message: 'cannot list resource "secrets"' },
    { name: 'read ConfigMaps', attempt: () => agent.list(CONFIG_MAPS), message: 'cannot list resource "configmaps"' },
    { name: 'read Leases', attempt: () => agent.list(LEASES), message: 'cannot list resource "leases"' },
    {
      name: 'read UserDefinedNetworks',
      attempt: () => agent.list(USER_DEFINED_NETWORKS),
      message: 'cannot list resource "userdefinednetworks"',
    },
    {
      name: 'get a token of the cluster manager',
      attempt: () => {
        const path = `/api/v1/namespaces/${PROJECT}/serviceaccounts/udn-cluster-manager/token`;
        const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
        return agent.request({ method: 'POST', path, body });
      },
      message: 'cannot create resource "serviceaccounts/token"',
    },
  ];

  describe('an agent may not', () => {
    it.each([...ofNodes, ...ofPods, ...others])('$name', async ({ attempt, message }) => {
      expect((await refusal(attempt())).message).toContain(message);
    });
  });

  it('whose token is not bound to a node changes nothing', async () => {
    const unbound = await cluster().account(PROJECT, 'udn-agent');
    const message = 'the credentials of an agent must be bound to its node';
    const zone = annotations({ [NODE_ANNOTATIONS.zoneName]: 'node-1' });
    expect((await refusal(node('node-1')(unbound, zone))).message).toContain(nodes(message));
    expect((await refusal(pod('waiting')(unbound, annotations({ [NETWORKS]: '{}' })))).message).toContain(
      pods(message),
    );
    expect((await refusal(unbound.create(EVENTS, eventOf('')))).message).toContain(events(message));
  });
};
