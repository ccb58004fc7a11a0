/**
 * Keeps a mirror of each EndpointSlice of a namespace with a primary network, with the addresses that the pods have there. The
 * key is that of the source; whoever says that it mirrors something that is not there is removed.
 */
import { isNotFound } from '../../kube/errors.ts';
import { ENDPOINT_SLICES } from '../../kube/resources.ts';
import { createPodAddresses, mirrorOfPods, type PodAddresses } from '../render/mirror-of-pods.ts';
import { isMirrored, type MirroredSlice } from '../render/mirrored-slice.ts';
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
  return mirrorOfPods({ source, nad: primary.nad, pods: caches.pods, addresses });
};
