/** Services and their EndpointSlices on the default network, as an API server with its controllers has them. Pure. */
import { SLICE_CONTROLLER, SLICE_LABELS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { addressAt, parseCidr } from '../../net/cidr.ts';
import { clusterObjects } from '../render/objects.ts';

export const ENDPOINTS_OF_EACH = 10;

const NAMESPACES = 100;
const CLUSTER_IPS = parseCidr('10.96.0.0/16');
const POD_IPS = parseCidr('10.128.0.0/14');
/** Endpoints of one Service may become so many. */
const ROOM = 16;
/** The first ones are Kubernetes' own. */
const FIRST_CLUSTER_IP = 100;

/** Two nodes, namespaces, Services and their slices. */
export const serviceObjects = (services: number): KubeObject[] => [
  ...clusterObjects(0, 0),
  ...serviceNamespaces(),
  ...Array.from({ length: services }, (_, index) => [serviceObject(index), sliceObject(index)]).flat(),
];

export const serviceNamespaces = (): KubeObject[] =>
  Array.from({ length: NAMESPACES }, (_, index) => namespaceObject(`app-${index}`));

/** `namespace/name` of a Service. @param index from 0 on */
export const serviceKey = (index: number): string => `${namespaceOf(index)}/${nameOf(index)}`;

const namespaceOf = (index: number): string => `app-${index % NAMESPACES}`;
const nameOf = (index: number): string => `web-${index}`;

const metadataOf = (namespace: string | undefined, name: string, labels: Readonly<Record<string, string>> = {}) => ({
  ...(namespace !== undefined && { namespace }),
  name,
  uid: `uid-of-${namespace}-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels,
});

const namespaceObject = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: metadataOf(undefined, name),
});

export const serviceObject = (index: number) => {
  const clusterIp = addressAt(CLUSTER_IPS, BigInt(FIRST_CLUSTER_IP + index));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(namespaceOf(index), nameOf(index), { app: nameOf(index) }),
    spec: {
      type: 'ClusterIP',
      clusterIP: clusterIp,
      clusterIPs: [clusterIp],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
      selector: { app: nameOf(index) },
      sessionAffinity: 'None',
    },
    status: { loadBalancer: {} },
  };
};

export const sliceName = (index: number): string => `${nameOf(index)}-x2k4p`;

/** @param endpoints how many, at most 16 */
export const sliceObject = (index: number, endpoints = ENDPOINTS_OF_EACH) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    ...metadataOf(namespaceOf(index), sliceName(index), {
      app: nameOf(index),
      [SLICE_LABELS.managedBy]: SLICE_CONTROLLER,
      [SLICE_LABELS.service]: nameOf(index),
    }),
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        name: nameOf(index),
        uid: `uid-of-${namespaceOf(index)}-${nameOf(index)}`,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  addressType: 'IPv4',
  endpoints: Array.from({ length: endpoints }, (_, endpoint) => endpointObject(index, endpoint)),
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
});

const endpointObject = (index: number, endpoint: number) => {
  const name = `${nameOf(index)}-7d9c5b6f4d-${endpoint}`;
  return {
    addresses: [addressAt(POD_IPS, BigInt(index * ROOM + endpoint + FIRST_POD_IP))],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: `node-${(endpoint % 2) + 1}`,
    targetRef: { kind: 'Pod', namespace: namespaceOf(index), name, uid: `uid-of-${namespaceOf(index)}-${name}` },
  };
};

const FIRST_POD_IP = 256;
