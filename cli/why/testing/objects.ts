/** Objects in states that the cluster manager and agents leave behind, for tests. */
import { NAD_ANNOTATIONS, NODE_ANNOTATIONS, POD_ANNOTATIONS, UDN_FINALIZER } from '../../../api/names.ts';
import { nad, netConf, node, pod } from '../../../cluster-manager/testing/objects.ts';
import { type Snapshot, type SnapshotInput, snapshotOf } from '../../cluster/snapshot.ts';
import { sceneOf } from '../allocations.ts';

type Fields = Readonly<Record<string, unknown>>;
type TestObject = ReturnType<typeof nad>;

export const NOW = Date.parse('2026-06-01T00:00:00Z');
/** Leads, and was heard of a moment ago. */
export const LEADER = { holder: 'cm-1', renewedAt: NOW - 2_000, durationMs: 15_000 };

export const scene = (objects: readonly unknown[], input: Partial<SnapshotInput> = {}) =>
  sceneOf(snapshot(objects, input));

const snapshot = (objects: readonly unknown[], input: Partial<SnapshotInput>): Snapshot =>
  snapshotOf({ objects, now: NOW, leader: LEADER, ...input });

/** As created, with a uid, and with what the cluster manager says when all is well. */
export const settledNetwork = (object: TestObject, status: Fields = {}): TestObject => ({
  ...object,
  metadata: { uid: uidOf(object), generation: 1, finalizers: [UDN_FINALIZER], ...object.metadata },
  status: {
    conditions: [condition('NetworkCreated'), condition('NetworkAllocationSucceeded'), condition('Ready')],
    ...status,
  },
});

export const condition = (type: string, status = 'True', message = 'fine', observedGeneration = 1): Fields => ({
  ...{ type, status, message, observedGeneration },
  ...{ reason: 'AsToldBelow', lastTransitionTime: '2026-01-01T00:00:00Z' },
});

export const uidOf = ({ kind, metadata }: TestObject): string =>
  `uid-${kind}-${metadata.namespace ?? ''}-${metadata.name}`;

/** The NAD of a network in a namespace, with its id. */
export const nadOf = (owner: TestObject, namespace: string, conf: Fields = {}, metadata: Fields = {}): TestObject => {
  const { kind, apiVersion } = owner;
  const { name } = owner.metadata;
  const network = kind === 'UserDefinedNetwork' ? `${namespace}_${name}` : `cluster_udn_${name}`;
  const { annotations = ids(network, 1), ...rest } = metadata;
  return nad(`${namespace}/${name}`, netConf(`${namespace}/${name}`, network, { subnets: '10.100.0.0/16', ...conf }), {
    ownerReferences: [{ apiVersion, kind, name, uid: uidOf(owner), controller: true }],
    finalizers: [UDN_FINALIZER],
    annotations,
    ...rest,
  });
};

export const ids = (network: string, id: number): Readonly<Record<string, string>> => ({
  [NAD_ANNOTATIONS.networkName]: network,
  [NAD_ANNOTATIONS.networkId]: String(id),
});

export const settledNode = (name: string, subnets: Fields = {}): TestObject => ({
  ...node(name, {
    [NODE_ANNOTATIONS.chassisId]: 'c',
    [NODE_ANNOTATIONS.id]: '2',
    [NODE_ANNOTATIONS.subnets]: JSON.stringify({ default: ['10.128.0.0/23'], ...subnets }),
  }),
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

export const READY: Fields = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

/** On node n1. @param entries of its annotation */
export const settledPod = (key: string, entries: Fields, metadata: Fields = {}, status: Fields = READY): TestObject =>
  pod(key, { annotations: { [POD_ANNOTATIONS.networks]: JSON.stringify(entries) }, ...metadata }, {}, status);

export const DEFAULT_ENTRY: Fields = {
  default: { ip_addresses: ['10.128.0.5/23'], mac_address: '0a:58:0a:80:00:05', role: 'infrastructure-locked' },
};
export const entry = (nadKey: string, address: string): Fields => ({
  [nadKey]: { ip_addresses: [address], mac_address: '0a:58:0a:64:00:04', gateway_ips: ['10.100.0.1'], role: 'primary' },
});

export const warning = (about: string, message: string, reason = 'AsToldBelow'): unknown => {
  const [kind = '', ...path] = about.split('/');
  const [namespace, name] = path.length === 1 ? [undefined, path[0]] : path;
  return {
    kind: 'Event',
    metadata: { namespace, name: 'e', creationTimestamp: '2026-05-31T23:59:00Z' },
    involvedObject: { kind, namespace, name },
    type: 'Warning',
    reason,
    message,
  };
};
