/** The objects of the benchmarks of the control plane, as requests. Pure. */
import { NODE_ANNOTATIONS, POD_ANNOTATIONS, PRIMARY_NETWORK_LABEL, UDN_API_VERSION } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { apiVersionOf, type PathParts, resourcePath } from '../../kube/client/resource-path.ts';
import { CONFIG_MAPS, ENDPOINT_SLICES, NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS } from '../../kube/resources.ts';
import type { KubeObject, ObjectInput, ObjectRef, ResourceType } from '../../kube/types.ts';
import { type ChainRequest, type RequestChain, UID } from './request-chain.ts';

export const NODE_NAMES = ['node-1', 'node-2'] as const;
export const namespaceOf = (tenant: number): string => `tenant-${tenant}`;
export const NETWORK = 'net';

/** 1, 2, … */
export const tenants = (count: number, first = 1): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

const ALREADY_THERE = 409;
const GONE = 404;

/** With what the controller manager puts into each namespace, so that pods are let in and nobody is busy with it later. */
export const namespaceChain = (tenant: number, rootCertificates: unknown): RequestChain => {
  const name = namespaceOf(tenant);
  const inside = (resource: ResourceType, object: ObjectInput): ChainRequest => ({
    ...post(resource, { ...object, metadata: { namespace: name, ...object.metadata } }),
    mayFail: [ALREADY_THERE],
  });
  return [
    { ...post(NAMESPACES, { metadata: { name, labels: { [PRIMARY_NETWORK_LABEL]: '' } } }), mayFail: [ALREADY_THERE] },
    inside(SERVICE_ACCOUNTS, { metadata: { name: 'default' } }),
    inside(CONFIG_MAPS, { metadata: { name: 'kube-root-ca.crt' }, data: rootCertificates }),
  ];
};

export const nodeChain = (name: string): RequestChain => [
  { ...post(NODES, { metadata: { name } }), mayFail: [ALREADY_THERE] },
];

export type Topology = 'Layer2' | 'Layer3';

/** Half of the networks are of either kind. */
export const mixed = (tenant: number): Topology => (tenant % 2 === 0 ? 'Layer2' : 'Layer3');

/** All tenants use the same addresses. */
export const networkRequest = (tenant: number, topology: Topology): ChainRequest => {
  const spec =
    topology === 'Layer2'
      ? { topology, layer2: { role: 'Primary', subnets: ['10.20.0.0/16', 'fd00:20::/64'] } }
      : {
          topology,
          layer3: {
            role: 'Primary',
            subnets: [
              { cidr: '10.20.0.0/16', hostSubnet: 24 },
              { cidr: 'fd00:20::/48', hostSubnet: 64 },
            ],
          },
        };
  const metadata = { namespace: namespaceOf(tenant), name: NETWORK };
  return post(USER_DEFINED_NETWORKS, { apiVersion: UDN_API_VERSION, kind: 'UserDefinedNetwork', metadata, spec });
};

/**
 * A network, and all that the cluster manager wrote because of it, in as few requests as it takes: one for each object
 * that is new, and one for each of its parts that has a URL of its own.
 * @param udn, nad as they were when the cluster manager had done its work
 */
export const writtenNetwork = (tenant: number, topology: Topology, udn: KubeObject, nad: KubeObject): RequestChain => {
  const at = { namespace: namespaceOf(tenant), name: NETWORK };
  const { labels, annotations, finalizers, ownerReferences = [] } = nad.metadata;
  const owned = ownerReferences.map((reference) => ({ ...reference, uid: UID }));
  const metadata = { ...at, labels, annotations, finalizers, ownerReferences: owned };
  return [
    networkRequest(tenant, topology),
    merge(USER_DEFINED_NETWORKS, at, { metadata: { finalizers: udn.metadata.finalizers } }),
    post(NETWORK_ATTACHMENT_DEFINITIONS, { metadata, spec: nad['spec'] } as ObjectInput),
    merge(USER_DEFINED_NETWORKS, { ...at, subresource: 'status' }, { status: udn['status'] }),
  ];
};

/** What the cluster manager wrote to a node because of the networks. */
export const writtenNode = ({ metadata: { name, annotations } }: KubeObject): RequestChain => [
  merge(NODES, { name }, { metadata: { annotations } }),
];

/** As a tenant asks for it: the cluster manager does the rest. */
export const networkDeletion = (tenant: number): ChainRequest => ({
  method: 'DELETE',
  path: resourcePath(USER_DEFINED_NETWORKS, { namespace: namespaceOf(tenant), name: NETWORK }),
});

/** Without anybody who works on finalizers. */
export const networkRemoval = (tenant: number): RequestChain => {
  const at = { namespace: namespaceOf(tenant), name: NETWORK };
  return [USER_DEFINED_NETWORKS, NETWORK_ATTACHMENT_DEFINITIONS].flatMap((resource) => [
    { ...merge(resource, at, { metadata: { finalizers: null } }), mayFail: [GONE] },
    { method: 'DELETE', path: resourcePath(resource, at), mayFail: [GONE] },
  ]);
};

/** What the networks left on a node. */
export const nodeCleaning = (name: string): RequestChain => [
  merge(NODES, { name }, { metadata: { annotations: { [NODE_ANNOTATIONS.subnets]: null } } }),
];

export const podName = (index: number): string => `web-7d9c5b6f4d-${index}`;

/** On a node, as the scheduler has placed it. */
export const podObject = (namespace: string, name: string): ObjectInput => ({
  metadata: { namespace, name, labels: { app: 'web', 'pod-template-hash': '7d9c5b6f4d' } },
  spec: { nodeName: NODE_NAMES[0], containers: [{ name: 'main', image: 'registry.example/web:1' }] },
});

export const podRequest = (tenant: number, name: string): ChainRequest =>
  post(PODS, podObject(namespaceOf(tenant), name));

/** @param text null takes the annotation away */
export const podAnnotation = (namespace: string, name: string, text: string | null): ChainRequest =>
  merge(PODS, { namespace, name }, { metadata: { annotations: { [POD_ANNOTATIONS.networks]: text } } });

/** An object with a name. */
export type Creatable = ObjectInput & { readonly metadata: ObjectRef };

export const sliceRequest = (slice: ObjectInput): ChainRequest => post(ENDPOINT_SLICES, slice);

/** All of a tenant, in one request. When nobody mirrors them. */
export const sliceRemoval = (tenant: number): RequestChain => [
  { method: 'DELETE', path: resourcePath(ENDPOINT_SLICES, { namespace: namespaceOf(tenant) }) },
];

/** As it could be created again. */
export const withoutServerFields = ({ metadata, ...object }: KubeObject): Creatable => {
  const {
    uid: _,
    resourceVersion: __,
    creationTimestamp: ___,
    generation: ____,
    managedFields: _____,
    ...rest
  } = metadata;
  return { ...object, metadata: rest };
};

const post = (resource: ResourceType, object: ObjectInput): ChainRequest => ({
  method: 'POST',
  path: resourcePath(resource, object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
  body: JSON.stringify({ apiVersion: apiVersionOf(resource), kind: resource.kind, ...object }),
});

const merge = (resource: ResourceType, at: PathParts, body: unknown): ChainRequest => ({
  method: 'PATCH',
  path: resourcePath(resource, at),
  contentType: 'application/merge-patch+json',
  body: JSON.stringify(body),
});
