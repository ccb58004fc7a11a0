/** A PodIndex that is given pods one by one, as annotations say of them. */
import type { KubeObject } from '../../kube/types.ts';
import { parseIp } from '../../net/ip.ts';
import { macFromIp } from '../../net/mac.ts';
import { PodIndex } from '../inputs/pod-index.ts';
import { type PodProjection, projectPod } from '../inputs/pod-projection.ts';
import { TestCluster } from './cluster.ts';

interface PodInput {
  readonly uid?: string;
  readonly second?: number;
  readonly phase?: string;
  readonly mac?: string;
  readonly tunnelId?: number;
  readonly hostNetwork?: boolean;
  /** Of the static pod that it is the mirror of. */
  readonly staticUid?: string;
  /** Default: `node1`. */
  readonly node?: string;
  readonly selects?: string;
  /** Label: the virtual machine that runs in it. */
  readonly machine?: string;
  /** Label: UID of that machine's object. */
  readonly createdBy?: string;
  /** A live migration has ended here. */
  readonly isMigrated?: boolean;
  /** Of all its entries. */
  readonly role?: string;
  /** By NAD key. Undefined: no annotation. */
  readonly ips?: Readonly<Record<string, string>>;
}

export const projection = (
  key: string,
  {
    uid = `uid-${key}`,
    second = 0,
    phase = 'Running',
    ips,
    mac,
    tunnelId,
    role,
    hostNetwork = false,
    ...rest
  }: PodInput,
) => {
  const { staticUid, selects, machine, createdBy, isMigrated, node = 'node1' } = rest;
  const [namespace = '', name = ''] = key.split('/');
  const entries = Object.entries(ips ?? {}).map(([nad, ip]) => [
    nad,
    { ip_addresses: [ip], mac_address: mac ?? macFromIp(parseIp(ip.split('/')[0] ?? '')), tunnel_id: tunnelId, role },
  ]);
  const annotations = {
    ...(ips && { 'k8s.ovn.org/pod-networks': JSON.stringify(Object.fromEntries(entries)) }),
    ...(selects && { 'k8s.v1.cni.cncf.io/networks': selects }),
    ...(isMigrated && { 'kubevirt.io/migration-target-ready-timestamp': '2026-01-01T00:00:09Z' }),
    ...(staticUid && { 'kubernetes.io/config.mirror': staticUid, 'kubernetes.io/config.hash': staticUid }),
  };
  const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
  const labels = {
    ...(machine && { 'vm.kubevirt.io/name': machine }),
    ...(createdBy && { 'kubevirt.io/created-by': createdBy }),
  };
  const metadata = { name, namespace, uid, resourceVersion: '1', creationTimestamp, labels, annotations };
  const spec = { nodeName: node, hostNetwork };
  return projectPod({ metadata, spec, status: { phase } } as unknown as KubeObject, 'node1');
};

/** On `node1`, with networks of namespaces a, b and c. */
export const setUp = () => {
  const cluster = new TestCluster('node1').node('node1', { subnets: { default: ['10.128.0.0/23'] } });
  const { facts, settings } = cluster;
  const common = { topology: 'layer2', subnets: ['10.0.0.0/24'] } as const;
  for (const namespace of ['a', 'b', 'c']) cluster.namespace(namespace, true);
  cluster.network('cluster_udn_shared', { ...common, id: 2, namespace: 'a', nad: 'shared' });
  facts.set('nad', 'b/shared', 'cluster_udn_shared');
  cluster.network('c/own', { ...common, id: 3, namespace: 'c', nad: 'own' });
  cluster.network('b/net', { ...common, id: 4, namespace: 'b', nad: 'net' });
  cluster.network('b/lan', { ...common, topology: 'localnet', role: 'secondary', id: 5, namespace: 'b', nad: 'lan' });
  const mirror = new Map<string, PodProjection>();
  const index = new PodIndex(
    facts,
    settings,
    (key) => mirror.get(key),
    (nadKey) => (nadKey.endsWith('/shared') ? 'cluster_udn_shared' : nadKey),
  );
  const put = (key: string, input: PodInput | undefined): void => {
    const after = input && projection(key, input);
    if (after === undefined) mirror.delete(key);
    else mirror.set(key, after);
    index.change(key, after);
  };
  const networks = (key: string) => [...(facts.get('pod', key)?.networks.keys() ?? [])];
  const refused = (key: string) => [...(facts.get('pod', key)?.refused ?? [])];
  return { put, networks, refused, facts, cluster };
};

/** Entries of any pod of `node1`, equal for all. */
export const SAME = { default: '10.128.0.3/23' };
