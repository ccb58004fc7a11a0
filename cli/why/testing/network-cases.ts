/** Networks that are not ready, or not gone. */
import { POD_ANNOTATIONS } from '../../../api/names.ts';
import { cudn, nad, namespace, netConf, node, pod, tenant, udn } from '../../../cluster-manager/testing/objects.ts';
import { condition, ids, nadOf, settledNetwork, settledNode } from './objects.ts';
import { type Case, GOING, l3, l3Nad, l3Node, n1, net, red, shop, UDN, web } from './settled.ts';

export const NETWORK_CASES: readonly Case[] = [
  {
    state: 'a network that does not exist',
    ...{ objects: [red], ask: UDN, cause: 'not-found', expectedText: 'no object has that name' },
  },
  {
    state: 'a namespace that is gone',
    ...{ objects: [net], ask: UDN, cause: 'namespace-missing', expectedText: 'namespace red does not exist' },
  },
  {
    state: 'a namespace that is being deleted',
    objects: [{ ...red, metadata: { ...red.metadata, ...GOING } }, net],
    ...{ ask: UDN, cause: 'namespace-terminating', expectedText: 'namespace red is being deleted' },
  },
  {
    state: 'a namespace without the label',
    ...{
      objects: [namespace('red'), net],
      ask: UDN,
      cause: 'label-missing',
      expectedText: 'namespace red has no label k8s.ovn.org/primary',
    },
  },
  {
    state: 'a NAD of somebody else with the name',
    objects: [red, net, nad('red/net', { type: 'macvlan' })],
    ...{
      ask: UDN,
      cause: 'nad-foreign',
      expectedText:
        'NetworkAttachmentDefinition red/net has its name and belongs to another owner: it is written by hand',
    },
  },
  {
    state: 'a NAD that nobody can read',
    objects: [red, net, nad('red/odd', '{')],
    ...{
      ask: UDN,
      cause: 'nad-invalid',
      expectedText: 'configuration of NetworkAttachmentDefinition red/odd cannot be read',
    },
  },
  {
    state: 'two networks of the cluster that select the namespace',
    objects: [tenant('red', { a: '', b: '' }), shop('one', 'a'), nadOf(shop('one', 'a'), 'red'), shop('two', 'b')],
    ask: { kind: 'cudn', name: 'two' },
    ...{
      cause: 'primary-taken',
      expectedText: 'NetworkAttachmentDefinition red/one, of ClusterUserDefinedNetwork one',
    },
  },
  {
    state: 'a selector that selects nothing',
    objects: [red, shop('one', 'a')],
    ...{ ask: { kind: 'cudn', name: 'one' }, cause: 'no-namespace-selected', expectedText: 'selects no namespace' },
  },
  {
    state: 'a spec that cannot be',
    objects: [
      red,
      settledNetwork(
        udn('red/net', {
          topology: 'Layer3',
          layer3: { role: 'Primary', subnets: [{ cidr: '10.0.0.0/24', hostSubnet: 24 }] },
        }),
      ),
    ],
    ...{ ask: UDN, cause: 'spec-invalid', expectedText: 'HostSubnet must be smaller than CIDR subnet' },
  },
  {
    state: 'a transport that is not implemented',
    objects: [
      settledNetwork(
        cudn(
          'one',
          {},
          {
            topology: 'Layer3',
            layer3: { role: 'Primary', subnets: [{ cidr: '10.1.0.0/16' }] },
            transport: 'NoOverlay',
            noOverlay: { outboundSNAT: 'Enabled', routing: 'Managed' },
          },
        ),
      ),
    ],
    ...{
      ask: { kind: 'cudn', name: 'one' },
      cause: 'unsupported',
      expectedText: 'transport NoOverlay is not supported yet',
    },
  },
  {
    state: 'a NAD that has not been made',
    ...{
      objects: [red, net],
      ask: UDN,
      cause: 'nad-missing',
      expectedText: 'NetworkAttachmentDefinition red/net has not been created yet',
    },
  },
  {
    state: 'a NAD that is being deleted and in use',
    objects: [red, n1, net, nadOf(net, 'red', {}, GOING), web],
    ...{ ask: UDN, cause: 'nad-being-deleted', expectedText: 'waits for pods that use it: red/web' },
  },
  {
    state: 'a NAD without an id',
    objects: [red, net, nadOf(net, 'red', {}, { annotations: {} })],
    ...{ ask: UDN, cause: 'id-missing', expectedText: 'NetworkAttachmentDefinition red/net has no network id' },
  },
  {
    state: 'a NAD that cannot have an id, because rows of another network have the names',
    objects: [
      namespace('red'),
      nad('red/a', netConf('red/a', 'a.b', { role: 'secondary' }), { annotations: ids('a.b', 1) }),
      nad('red/b', netConf('red/b', 'a-b', { role: 'secondary' }), { creationTimestamp: '2026-02-01T00:00:00Z' }),
    ],
    ask: { kind: 'network', name: 'a-b' },
    ...{ cause: 'id-missing', expectedText: 'would have the same names as those of network a.b' },
  },
  {
    state: 'an id that is no number',
    objects: [red, net, nadOf(net, 'red', {}, { annotations: { 'k8s.ovn.org/network-id': 'one' } })],
    ...{ ask: UDN, cause: 'annotation-unreadable', expectedText: 'annotation k8s.ovn.org/network-id' },
  },
  {
    state: 'more nodes than subnets',
    objects: [
      ...[red, l3Node, settledNode('n2', { red_net: ['10.100.1.0/24'] }), settledNode('n3')],
      settledNetwork(
        udn('red/net', {
          topology: 'Layer3',
          layer3: { role: 'Primary', subnets: [{ cidr: '10.100.0.0/23', hostSubnet: 24 }] },
        }),
      ),
      nadOf(l3, 'red', { topology: 'layer3', subnets: '10.100.0.0/23/24' }),
    ],
    ...{
      ask: UDN,
      cause: 'subnets-exhausted',
      expectedText: 'node n3 has no subnet of network red_net: no subnet left in 10.100.0.0/23',
    },
  },
  {
    state: 'a node that cannot make it',
    objects: [
      ...[red, n1, nadOf(net, 'red'), web],
      settledNetwork(net, {
        conditions: [condition('Ready'), condition('NodesReady', 'False')],
        nodes: { total: 3, ready: 2, pending: 0, failing: 1, problems: [{ node: 'n1', message: 'EINVAL' }] },
      }),
    ],
    ...{ ask: UDN, cause: 'node-failing', expectedText: '1 of 3 nodes cannot program it; n1: EINVAL' },
  },
  {
    state: 'a node that has not programmed all of it',
    objects: [
      ...[red, n1, nadOf(net, 'red'), web],
      settledNetwork(net, {
        conditions: [
          { ...condition('Ready', 'False', '1 of 2 nodes have not programmed it yet: n1'), reason: 'NodesPending' },
        ],
        nodes: { total: 2, ready: 1, pending: 1, failing: 0 },
      }),
    ],
    ...{ ask: UDN, cause: 'nodes-pending', expectedText: 'is not ready: 1 of 2 nodes have not programmed it yet: n1' },
  },
  {
    state: 'a node that has not got its subnet yet',
    objects: [red, l3, l3Nad, settledNode('n1')],
    ...{ ask: UDN, cause: 'node-subnet-missing', expectedText: 'node n1 has no subnet of network red_net' },
  },
  {
    state: 'a node whose subnets cannot be read',
    objects: [red, l3, l3Nad, node('n1', { 'k8s.ovn.org/node-subnets': '{' })],
    ...{
      ask: UDN,
      cause: 'annotation-unreadable',
      expectedText: 'annotation k8s.ovn.org/node-subnets of Node n1: not JSON',
    },
  },
  {
    state: 'a network that nobody has looked at',
    objects: [red, { ...net, status: {} }, nadOf(net, 'red')],
    ...{ ask: UDN, cause: 'not-seen-yet', expectedText: 'has no condition Ready' },
  },
  {
    state: 'a change that nobody has looked at',
    objects: [red, { ...net, metadata: { ...net.metadata, generation: 2 } }, nadOf(net, 'red')],
    ...{ ask: UDN, cause: 'not-seen-yet', expectedText: 'reflect generation 1, but it is at generation 2' },
  },
  {
    state: 'a refusal that only the cluster manager can know',
    objects: [
      ...[red, nadOf(net, 'red')],
      {
        ...net,
        status: {
          conditions: [
            condition('NetworkCreated', 'False', 'overlaps cluster subnet'),
            condition('Ready', 'False', 'x'),
          ],
        },
      },
    ],
    ...{ ask: UDN, cause: 'condition', expectedText: 'its condition NetworkCreated: overlaps cluster subnet' },
  },
  {
    state: 'a deletion that waits for pods',
    objects: [red, n1, { ...net, metadata: { ...net.metadata, ...GOING } }, nadOf(net, 'red'), web],
    ...{ ask: UDN, cause: 'pods-use-it', expectedText: 'is not deleted yet: pods use it: red/web' },
  },
  {
    state: 'a deletion that a garbled annotation holds',
    objects: [
      red,
      n1,
      { ...net, metadata: { ...net.metadata, ...GOING } },
      nadOf(net, 'red'),
      pod('red/odd', { annotations: { [POD_ANNOTATIONS.networks]: '{' } }),
    ],
    ...{
      ask: UDN,
      cause: 'annotation-unreadable',
      expectedText: 'k8s.ovn.org/pod-networks of Pod red/odd cannot be read',
    },
  },
  {
    state: 'a deletion that another controller holds',
    objects: [red, { ...net, metadata: { ...net.metadata, ...GOING, finalizers: ['example.org/keep'] } }],
    ...{ ask: UDN, cause: 'finalizer', expectedText: 'the finalizer example.org/keep of UserDefinedNetwork red/net' },
  },
  {
    state: 'a deletion that only the cluster manager has to finish',
    objects: [red, { ...net, metadata: { ...net.metadata, ...GOING } }],
    ...{ ask: UDN, cause: 'being-deleted', expectedText: 'nothing uses UserDefinedNetwork red/net any more' },
  },
];
