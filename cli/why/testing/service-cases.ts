/** Services of which something is not served. */
import { SLICE_MIRROR_CONTROLLER } from '../../../api/names.ts';
import { layer2Udn, namespace, tenant } from '../../../cluster-manager/testing/objects.ts';
import type { Question } from '../subject.ts';
import { nadOf, settledNetwork } from './objects.ts';
import type { Case } from './settled.ts';

type Fields = Readonly<Record<string, unknown>>;

const net = settledNetwork(layer2Udn('red/net', ['10.100.0.0/16']));
export const CLUSTER = [
  namespace('plain'),
  tenant('red'),
  net,
  nadOf(net, 'red', { subnets: '10.100.0.0/16,fd00:100::/64' }),
];

export const service = (spec: Fields = {}, metadata: Fields = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'red', name: 'web', ...metadata } },
  spec: {
    ...{ type: 'ClusterIP', clusterIPs: ['10.96.0.2'], selector: { app: 'web' } },
    ports: [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
    ...spec,
  },
});
export const mirror = (addresses: readonly string[], ...ports: readonly object[]) => ({
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
  metadata: {
    ...{ namespace: 'red', name: 'web-1', annotations: { 'k8s.ovn.org/endpointslice-network': 'red_net' } },
    labels: {
      'k8s.ovn.org/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': SLICE_MIRROR_CONTROLLER,
    },
  },
  endpoints: addresses.map((address) => ({ addresses: [address] })),
  ports,
});
export const HTTP = { name: 'http', protocol: 'TCP', port: 8080 };
export const DNS = { name: 'dns', protocol: 'UDP', port: 5353 };
export const selectedPod = (name: string, ready: 'True' | 'False', labels: Fields = { app: 'web' }) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'red', name, uid: name, labels } },
  ...{ spec: { nodeName: 'node-1', containers: [] }, status: { conditions: [{ type: 'Ready', status: ready }] } },
});

export const SERVICE: Question = { kind: 'service', name: 'red/web' };

export const SERVICE_CASES: readonly Case[] = [
  {
    state: 'a Service: a selector that selects nothing',
    objects: [...CLUSTER, service(), selectedPod('a', 'True', { app: 'wep' })],
    ...{
      ask: SERVICE,
      cause: 'selector-selects-nothing',
      expectedText: 'service red/web is not served: selector app=web selects no pod of namespace red',
    },
  },
  {
    state: 'a Service: pods that are not ready',
    objects: [...CLUSTER, service(), selectedPod('a', 'False'), selectedPod('b', 'False')],
    ...{
      ask: SERVICE,
      cause: 'pods-not-ready',
      expectedText: 'service red/web is not served: none of the 2 that selector app=web selects is ready: red/a, red/b',
    },
  },
  {
    state: 'a Service: ready pods, and no endpoints of the network',
    objects: [...CLUSTER, service(), selectedPod('a', 'True')],
    ...{
      ask: SERVICE,
      cause: 'endpoints-missing',
      expectedText: 'service red/web is not served: 10.96.0.2 has no endpoints of its family: connections are refused',
    },
  },
  {
    state: 'a Service: one port without endpoints',
    objects: [...CLUSTER, service(), selectedPod('a', 'True'), mirror(['10.100.0.3'], HTTP)],
    ...{
      ask: SERVICE,
      cause: 'endpoints-missing',
      expectedText: 'service red/web is not served: port 53/UDP of 10.96.0.2 has no endpoints: connections are refused',
    },
  },
  {
    state: 'a Service: one family without endpoints',
    objects: [
      ...CLUSTER,
      service({ clusterIPs: ['10.96.0.2', 'fd00:96::2'] }),
      selectedPod('a', 'True'),
      mirror(['10.100.0.3'], HTTP, DNS),
    ],
    ...{
      ask: SERVICE,
      cause: 'endpoints-missing',
      expectedText: 'service red/web is not served: fd00:96::2 has no endpoints of its family: connections are refused',
    },
  },
  {
    state: 'a Service: no ClusterIP',
    objects: [...CLUSTER, service({ clusterIPs: [] })],
    ...{ ask: SERVICE, cause: 'address-missing', expectedText: 'service red/web is not served: has no ClusterIP yet' },
  },
  {
    state: 'a Service: what is not programmed',
    objects: [
      ...CLUSTER,
      service({}, { annotations: { 'k8s.ovn.org/idled-at': 'now' } }),
      selectedPod('a', 'True'),
      mirror(['10.100.0.3'], HTTP, DNS),
    ],
    ...{
      ask: SERVICE,
      cause: 'unsupported',
      expectedText: 'service red/web is not served: not programmed yet: waiting to be unidled',
    },
  },
  {
    state: 'a Service: a Service that cannot be read',
    objects: [...CLUSTER, service({ ports: 'none' })],
    ...{ ask: SERVICE, cause: 'spec-invalid', expectedText: 'service red/web is not served: cannot be read' },
  },
  {
    state: 'a Service: none of that name',
    objects: CLUSTER,
    ...{
      ask: SERVICE,
      cause: 'not-found',
      expectedText: 'service red/web cannot be inspected: no object has that name',
    },
  },
];
