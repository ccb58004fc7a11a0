/** Pods and NetworkPolicies on the default network, in the shape that kube-burner's workload `network-policy` makes them. Pure. */
import { POD_ANNOTATIONS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { addressAt, parseCidr } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { LOCAL_NODE, nodeObject } from '../render/objects.ts';

export interface PolicyClusterSpec {
  readonly namespaces: number;
  readonly podsOfEach: number;
  readonly policiesOfEach: number;
  /** Of the pods of a namespace; the others are on another node. */
  readonly localOfEach: number;
}

/** Two nodes, and in each namespace pods and policies that have other ports and other peers each. */
export const policyObjects = (spec: PolicyClusterSpec): KubeObject[] => [
  ...nodes(),
  ...indexes(spec.namespaces).flatMap((namespace) => [
    namespaceObject(namespaceName(namespace)),
    ...indexes(spec.podsOfEach).map((index) => clusterPod(spec, namespace, index)),
    ...indexes(spec.policiesOfEach).map((index) => clusterPolicy(spec, namespace, index)),
  ]),
];

export const nodes = (): KubeObject[] => [1, 2].map((node) => nodeObject(node, []));

/** The label `num` says for which policies it is a peer. */
export const clusterPod = (
  { podsOfEach, localOfEach, policiesOfEach }: PolicyClusterSpec,
  namespace: number,
  index: number,
  num = index % policiesOfEach,
): KubeObject =>
  podObject({
    namespace: namespaceName(namespace),
    name: `pod-${index}`,
    number: namespace * podsOfEach + index,
    isLocal: index < localOfEach,
    labels: { num: String(num) },
  });

/** All pods of its namespace, at five ports and five ranges, from the pods with its number of five namespaces and from five blocks. */
const clusterPolicy = ({ namespaces, policiesOfEach }: PolicyClusterSpec, namespace: number, index: number) => {
  const number = namespace * policiesOfEach + index;
  const five = indexes(5);
  const values = five.map((one) => namespaceName((namespace + one) % namespaces));
  const blocks = five.map((one) => ({ ipBlock: { cidr: `172.${16 + one}.${number >> 8}.${number & 255}/32` } }));
  const single = five.map((one) => ({ port: 1000 + 10 * number + one }));
  const ranges = five.map((one) => {
    const port = 30_000 + 10 * number + 2 * one;
    return { port, endPort: port + 1 };
  });
  const peers = {
    namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }] },
    podSelector: { matchLabels: { num: String(index) } },
  };
  return policyObject(namespaceName(namespace), `policy-${index}`, {
    podSelector: {},
    policyTypes: ['Ingress'],
    ingress: [{ from: [peers, ...blocks], ports: [...single, ...ranges] }],
  });
};

export interface PodSpec {
  readonly namespace: string;
  readonly name: string;
  /** Gives its addresses: no two pods of a node have the same one. */
  readonly number: number;
  readonly isLocal: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

/** As its node has annotated it. */
export const podObject = ({ namespace, name, number, isLocal, labels }: PodSpec): KubeObject => {
  const ipv4 = podAddress(number, isLocal);
  const bytes = ipv4.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  const entry = {
    ip_addresses: [`${ipv4}/15`],
    mac_address: `0a:58:${bytes.join(':')}`,
    role: 'primary',
  };
  const annotations = { [POD_ANNOTATIONS.networks]: JSON.stringify({ default: entry }) };
  return {
    kind: 'Pod',
    metadata: { ...metadataOf(namespace, name, labels), annotations },
    spec: {
      nodeName: isLocal ? LOCAL_NODE : 'node-2',
      containers: [{ name: 'main', image: 'registry.example/web:1' }],
    },
    status: { phase: 'Running' },
  };
};

export const podAddress = (number: number, isLocal: boolean): Ip =>
  addressAt(isLocal ? LOCAL_SUBNET : OTHER_SUBNET, BigInt(number + FIRST_ADDRESS));

/** As `nodeObject` has them. */
const LOCAL_SUBNET = parseCidr('10.128.0.0/15');
const OTHER_SUBNET = parseCidr('10.130.0.0/15');
/** The first ones are the routers'. */
const FIRST_ADDRESS = 16;

export const namespaceObject = (name: string): KubeObject => ({
  kind: 'Namespace',
  metadata: metadataOf(undefined, name, { 'kubernetes.io/metadata.name': name }),
});

export const policyObject = (namespace: string, name: string, spec: object): KubeObject => ({
  kind: 'NetworkPolicy',
  metadata: metadataOf(namespace, name, {}),
  spec,
});

export const namespaceName = (index: number): string => `app-${index}`;

const metadataOf = (namespace: string | undefined, name: string, labels: Readonly<Record<string, string>>) => ({
  ...(namespace !== undefined && { namespace }),
  name,
  uid: uidOf(namespace, name),
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels,
});

export const uidOf = (namespace: string | undefined, name: string): string => `uid-of-${namespace}-${name}`;

export const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
