/**
 * Keeps a mirror of each EndpointSlice of a namespace with a primary network, with the addresses that the pods have there. The
 * key is that of the source; whoever says that it mirrors something that is not there is removed.
 */
import { parsePodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import type { Endpoint } from '../../api/endpoint-slice.ts';
import { ApiError } from '../../api/errors.ts';
import { parseJson } from '../../api/parse.ts';
import { isNotFound } from '../../kube/errors.ts';
import { isRecord } from '../../kube/is-record.ts';
import { ENDPOINT_SLICES } from '../../kube/resources.ts';
import { addressOf, cidrFamily } from '../../net/cidr.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { SliceFacts } from '../facts/slice-facts.ts';
import { isMirrored, type MirroredSlice, renderMirroredSlice } from '../render/mirrored-slice.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const sliceReconciler = (context: ControllerContext): Reconcile => {
  const addresses = createPodAddresses();
  return async (key, signal) => {
    const { caches, client, writer } = context;
    const wanted = wantedMirror(context, addresses, key);
    const mirrors = caches.slices.byIndex('source', key).filter(({ isMirror }) => isMirror);
    const mirror = mirrors.find(({ metadata }) => metadata.name === wanted?.metadata.name);
    if (wanted !== undefined && (mirror === undefined || !isMirrored(mirror, wanted))) {
      await writer.apply(ENDPOINT_SLICES, { ...wanted }, {}, signal);
    }
    // Last: an endpoint that stays is always in one of them.
    for (const { metadata } of mirrors.filter((one) => one !== mirror)) {
      const { namespace, name, uid } = metadata;
      try {
        await client.delete(ENDPOINT_SLICES, { namespace, name }, { preconditions: { uid } }, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  };
};

const wantedMirror = (
  { caches, state }: Pick<ControllerContext, 'caches' | 'state'>,
  addresses: PodAddresses,
  key: string,
): MirroredSlice | undefined => {
  const source = caches.slices.get(key);
  if (source === undefined || source.isMirror || source.metadata.deletionTimestamp != null) return undefined;
  const { namespace } = source.metadata;
  const primary = state.registry.primaryOf(namespace, caches.namespaces.get(namespace)?.labels ?? {});
  if (primary.kind !== 'network') return undefined;
  return renderMirroredSlice(source, primary.nad.conf.name, (endpoint, family) => {
    const pod = podOf(endpoint, source, caches.pods);
    if (pod === undefined) return undefined;
    return pod.isHostNetwork ? endpoint.addresses[0] : addresses.of(pod, primary.nad.key)[family];
  });
};

/** Another pod may have taken the name of the one that the endpoint is about. */
const podOf = (
  { targetRef }: Endpoint,
  { metadata }: SliceFacts,
  pods: ControllerContext['caches']['pods'],
): PodFacts | undefined => {
  if (targetRef?.kind !== 'Pod' || targetRef.name === undefined) return undefined;
  const pod = pods.get(`${metadata.namespace}/${targetRef.name}`);
  return targetRef.uid === undefined || pod?.uid === targetRef.uid ? pod : undefined;
};

type FamilyAddresses = Readonly<Partial<Record<'IPv4' | 'IPv6', string>>>;

interface PodAddresses {
  /** What the pod has on its primary network; nothing as long as its annotation does not say so, or cannot be read. */
  of(pod: PodFacts, nad: string): FamilyAddresses;
}

/** Read once for each version of a pod: a slice with a hundred endpoints is looked at for each change of one of them. */
const createPodAddresses = (): PodAddresses => {
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
    // The pod's owner is told where the annotation is written.
    if (error instanceof ApiError) return {};
    throw error;
  }
};
