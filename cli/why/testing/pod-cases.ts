/** Pods that are not ready, or not gone. */
import { POD_ANNOTATIONS } from '../../../api/names.ts';
import { layer2Udn, nad, namespace, node, pod } from '../../../cluster-manager/testing/objects.ts';
import { DEFAULT_ENTRY, entry, nadOf, settledNetwork, settledPod, warning } from './objects.ts';
import { type Case, GOING, l3, l3Nad, l3Node, n1, net, POD, red, web, well } from './settled.ts';

function asks(nadKey: string) {
  const annotations = { ...(web.metadata['annotations'] as object), [POD_ANNOTATIONS.selection]: nadKey };
  return { ...web, metadata: { ...web.metadata, annotations } };
}

export const POD_CASES: readonly Case[] = [
  {
    state: 'a pod that does not exist',
    ...{ objects: [red], ask: POD, cause: 'not-found', expectedText: 'no such pod' },
  },
  {
    state: 'a pod without a node',
    objects: [
      red,
      pod(
        'red/web',
        {},
        { nodeName: '' },
        { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }] },
      ),
    ],
    ...{
      ask: POD,
      cause: 'unscheduled',
      expectedText: 'pod red/web is not scheduled: Unschedulable: 0/1 nodes',
    },
  },
  {
    state: 'a namespace that asks for a network that nobody makes',
    ...{
      objects: [red, n1, settledPod('red/web', {})],
      ask: POD,
      cause: 'no-network',
      expectedText: 'it has no UserDefinedNetwork',
    },
  },
  {
    state: 'a network that waits for something itself',
    objects: [red, n1, net, settledPod('red/web', {}), nad('red/odd', '{')],
    ...{
      ask: POD,
      cause: 'nad-invalid',
      expectedText: 'UserDefinedNetwork red/net is not ready: the configuration of NetworkAttachmentDefinition red/odd',
    },
  },
  {
    state: 'a network in a namespace without the label',
    objects: [namespace('red'), n1, net, settledPod('red/web', DEFAULT_ENTRY)],
    ...{ ask: POD, cause: 'label-missing', expectedText: 'UserDefinedNetwork red/net has no effect' },
  },
  {
    state: 'a pod that is older than the network',
    objects: [
      red,
      n1,
      net,
      nadOf(net, 'red'),
      settledPod('red/web', { default: { ...(DEFAULT_ENTRY['default'] as object), role: 'primary' } }),
    ],
    ...{ ask: POD, cause: 'older-than-network', expectedText: 'was created before network red_net' },
  },
  {
    state: 'a node that is gone',
    ...{
      objects: [red, net, nadOf(net, 'red'), web],
      ask: POD,
      cause: 'node-missing',
      expectedText: 'node n1 no longer exists',
    },
  },
  {
    state: 'a node without an agent',
    objects: [red, net, nadOf(net, 'red'), web, node('n1')],
    ...{ ask: POD, cause: 'node-without-agent', expectedText: 'no agent has reported node n1' },
  },
  {
    state: 'a node that is not ready',
    objects: [
      red,
      net,
      nadOf(net, 'red'),
      web,
      { ...n1, status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } },
    ],
    ...{ ask: POD, cause: 'node-not-ready', expectedText: 'node n1 is not ready' },
  },
  {
    state: 'an annotation that is garbage',
    objects: [red, n1, net, nadOf(net, 'red'), pod('red/web', { annotations: { [POD_ANNOTATIONS.networks]: '{' } })],
    ...{
      ask: POD,
      cause: 'annotation-unreadable',
      expectedText: 'annotation k8s.ovn.org/pod-networks of Pod red/web: not JSON',
    },
  },
  {
    state: 'an entry that is garbage',
    objects: [red, n1, net, nadOf(net, 'red'), settledPod('red/web', { 'red/net': { mac_address: 'x' } })],
    ...{ ask: POD, cause: 'annotation-unreadable', expectedText: 'red/net: ' },
  },
  {
    state: 'an address that the cluster manager owes',
    objects: [red, n1, net, nadOf(net, 'red'), settledPod('red/web', DEFAULT_ENTRY)],
    ...{ ask: POD, cause: 'address-missing', expectedText: 'pod red/web has no address of network red_net' },
  },
  {
    state: 'an address that the agent owes, and what it said',
    objects: [
      red,
      l3Node,
      l3,
      l3Nad,
      settledPod('red/web', DEFAULT_ENTRY),
      warning('Pod/red/web', 'network red_net: no address is left'),
    ],
    ...{
      ask: POD,
      cause: 'address-missing',
      expectedText: 'no address of network red_net: network red_net: no address is left',
    },
  },
  {
    state: 'a part of a subnet that is full, as the agent said while ADD waits',
    objects: [
      ...[red, l3Node, l3, l3Nad, settledPod('red/web', DEFAULT_ENTRY)],
      warning(
        'Pod/red/web',
        'waiting: pod red/web has no addresses: network red_net: subnet 10.1.0.0/29 has no free address left',
      ),
    ],
    ...{ ask: POD, cause: 'addresses-exhausted', expectedText: 'subnet 10.1.0.0/29 has no free address left' },
  },
  {
    state: 'an annotation with the address of another pod',
    objects: [
      ...[red, n1, net, nadOf(net, 'red')],
      settledPod('red/other', { ...DEFAULT_ENTRY, ...entry('red/net', '10.100.0.4/16') }),
      settledPod('red/web', { ...DEFAULT_ENTRY, ...entry('red/net', '10.100.0.4/16') }, {}, {}),
      warning(
        'Pod/red/web',
        'waiting: pod red/web has no addresses: port key 5 on network red_net belongs to pod red/other',
      ),
    ],
    ...{
      ask: POD,
      cause: 'request-refused',
      expectedText: 'is not ready: network red_net: address 10.100.0.4 already belongs to red/other',
    },
  },
  {
    state: 'a network that is full',
    objects: [
      ...[
        red,
        n1,
        settledNetwork(layer2Udn('red/net', ['10.100.0.0/29'])),
        nadOf(net, 'red', { subnets: '10.100.0.0/29' }),
      ],
      ...[3, 4, 5, 6].map((last) =>
        settledPod(`red/other-${last}`, {
          'red/net': { ip_addresses: [`10.100.0.${last}/29`], mac_address: `0a:58:0a:64:00:0${last}` },
        }),
      ),
      settledPod('red/web', DEFAULT_ENTRY),
    ],
    ...{ ask: POD, cause: 'addresses-exhausted', expectedText: 'subnet 10.100.0.0/29 has no free address left' },
  },
  {
    state: 'a network with only reserved addresses left',
    objects: [
      ...[red, n1, settledNetwork(layer2Udn('red/net', ['10.100.0.0/29']))],
      nadOf(net, 'red', { subnets: '10.100.0.0/29', reservedSubnets: '10.100.0.0/29' }),
      settledPod('red/web', DEFAULT_ENTRY),
    ],
    ...{
      ask: POD,
      cause: 'addresses-exhausted',
      expectedText: 'no free address left outside of reservedSubnets, where pods get addresses on request',
    },
  },
  {
    state: 'an address that somebody else has',
    objects: [
      ...well.filter((one) => one !== web),
      settledPod('red/other', { ...DEFAULT_ENTRY, ...entry('red/net', '10.100.0.9/16') }),
      settledPod('red/web', DEFAULT_ENTRY, {
        annotations: {
          [POD_ANNOTATIONS.defaultNetwork]: '[{"namespace":"ovn-kubernetes","name":"default","ips":["10.100.0.9/16"]}]',
        },
      }),
    ],
    ...{ ask: POD, cause: 'request-refused', expectedText: 'red/other' },
  },
  {
    state: 'a NAD that is asked for and not there',
    objects: [...well.filter((one) => one !== web), asks('red/none')],
    ...{ ask: POD, cause: 'nad-missing', expectedText: 'the pod requests NetworkAttachmentDefinition red/none' },
  },
  {
    state: 'a primary network that is asked for',
    objects: [...well.filter((one) => one !== web), asks('red/net')],
    ...{ ask: POD, cause: 'primary-selected', expectedText: 'red/net, which is a primary network' },
  },
  {
    state: 'ports of the node by an annotation',
    objects: [
      ...well.filter((one) => one !== web),
      settledPod(
        'red/web',
        { ...DEFAULT_ENTRY, ...entry('red/net', '10.100.0.9/16') },
        {
          annotations: {
            [POD_ANNOTATIONS.defaultNetwork]:
              '[{"namespace":"ovn-kubernetes","name":"default","portMappings":[{"hostPort":80,"containerPort":80}]}]',
          },
        },
      ),
    ],
    ...{ ask: POD, cause: 'request-refused', expectedText: 'portMappings: ports of a node are opened by hostPort' },
  },
  {
    state: 'containers that do not start',
    objects: [
      ...well.filter((one) => one !== web),
      { ...web, status: { containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ImagePullBackOff' } } }] } },
    ],
    ...{
      ask: POD,
      cause: 'containers',
      expectedText: 'has all its addresses; the kubelet of node n1 does not report it Ready: c: ImagePullBackOff',
    },
  },
  {
    state: 'a pod that the kubelet is ending',
    objects: [...well.filter((one) => one !== web), { ...web, metadata: { ...web.metadata, ...GOING } }],
    ...{
      ask: POD,
      cause: 'being-deleted',
      expectedText: 'is not deleted yet: the kubelet of node n1 is terminating it',
    },
  },
];
