/** The mirror of an EndpointSlice from what is known of its pods: their annotations. Pure. */
import { parsePodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import type { Endpoint } from '../../api/endpoint-slice.ts';
import { ApiError } from '../../api/errors.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { parseJson } from '../../api/parse.ts';
import { isRecord } from '../../kube/is-record.ts';
import { addressOf, cidrFamily } from '../../net/cidr.ts';
import type { HostNetworkPod, PodFacts } from '../facts/pod-facts.ts';
import type { SliceFacts } from '../facts/slice-facts.ts';
import { type MirroredSlice, renderMirroredSlice } from './mirrored-slice.ts';

export interface MirrorOfPods {
  readonly source: SliceFacts;
  /** Of the primary network of its namespace. */
  readonly nad: { readonly key: string; readonly conf: Pick<NetConf, 'name'> };
  /** By `namespace/name`. */
  readonly pods: { get(key: string): PodFacts | undefined };
  readonly addresses: PodAddresses;
}

/** Undefined when there is nothing to send to. */
export const mirrorOfPods = ({ source, nad, pods, addresses }: MirrorOfPods): MirroredSlice | undefined =>
  renderMirroredSlice(source, nad.conf.name, (endpoint, family) => {
    const pod = podOf(endpoint, source, pods);
    if (pod === undefined) return undefined;
    return pod.host === undefined ? addresses.of(pod, nad.key)[family] : hostAddress(endpoint, pod.host);
  });

/**
 * Of the node, as the slice says it and the pod's status confirms: a load balancer sends where the mirror says, also to other
 * processes of a node, and not everybody who may write slices may have those asked.
 */
const hostAddress = (
  { addresses: [address], nodeName }: Endpoint,
  { node, ips }: HostNetworkPod,
): string | undefined =>
  address !== undefined && nodeName === node && ips.split(' ').includes(address) ? address : undefined;

/** Another pod may have taken the name of the one that the endpoint is about. */
const podOf = ({ targetRef }: Endpoint, { metadata }: SliceFacts, pods: MirrorOfPods['pods']): PodFacts | undefined => {
  if (targetRef?.kind !== 'Pod' || targetRef.name === undefined) return undefined;
  const pod = pods.get(`${metadata.namespace}/${targetRef.name}`);
  // A file may not say it; an API server always does.
  return targetRef.uid === undefined || pod?.uid === '' || pod?.uid === targetRef.uid ? pod : undefined;
};

type FamilyAddresses = Readonly<Partial<Record<'IPv4' | 'IPv6', string>>>;

export interface PodAddresses {
  /** What the pod has on its primary network; nothing as long as its annotation does not say so, or cannot be read. */
  of(pod: PodFacts, nad: string): FamilyAddresses;
}

/** Read once for each version of a pod: a slice with a hundred endpoints is looked at for each change of one of them. */
export const createPodAddresses = (): PodAddresses => {
  const known = new WeakMap<PodFacts, { readonly nad: string; readonly addresses: FamilyAddresses }>();
  return {
    of: (pod, nad) => {
      const before = known.get(pod);
      if (before?.nad === nad) return before.addresses;
      const addresses = primaryAddresses(pod, nad);
      known.set(pod, { nad, addresses });
      return addresses;
    },
  };
};

const primaryAddresses = ({ annotations, key }: PodFacts, nad: string): FamilyAddresses => {
  try {
    const networks = parseJson(annotations.networks ?? '{}', `Pod ${key}`);
    const entry = isRecord(networks) ? networks[nad] : undefined;
    if (entry === undefined) return {};
    const { ipAddresses } = parsePodNetworkEntry(entry, key);
    // Of several of one family the first counts.
    const byFamily = ipAddresses.map((address) => [`IPv${cidrFamily(address)}`, addressOf(address)]).reverse();
    return Object.fromEntries(byFamily);
  } catch (error) {
    // The pod's owner gets an event where the annotation is written.
    if (error instanceof ApiError) return {};
    throw error;
  }
};
