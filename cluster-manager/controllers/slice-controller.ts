/**
 * Keeps a mirror of each EndpointSlice of a namespace with a primary network, with the addresses that the pods have there. The
 * key is that of the source; whoever says that it mirrors something that is not there is removed.
 *
 * A mirror is created by POST and changed by merge patches, and not applied: an apply costs an API server more than either. What an
 * apply would do besides, to delete what we own and no longer desire, is ours to do (`mirrorPatch`).
 */
import { parseEndpointSlice } from '../../api/endpoint-slice.ts';
import { isAlreadyExists, isMoot, isNamespaceTerminating } from '../../kube/errors.ts';
import { ENDPOINT_SLICES } from '../../kube/resources.ts';
import { ownedMeta, type SliceFacts } from '../facts/slice-facts.ts';
import { createPodAddresses, mirrorOfPods, type PodAddresses } from '../render/mirror-of-pods.ts';
import { type ActualMirror, isMirrored, mirrorPatch } from '../render/mirror-patch.ts';
import type { MirroredSlice } from '../render/mirrored-slice.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const sliceReconciler = (context: ControllerContext): Reconcile => {
  const addresses = createPodAddresses();
  return async (key, signal) => {
    const desired = desiredMirror(context, addresses, key);
    const mirrors = context.caches.slices.byIndex('source', key).filter(({ isMirror }) => isMirror);
    const mirror = mirrors.find(({ metadata }) => metadata.name === desired?.metadata.name);
    if (desired !== undefined && mirror === undefined) {
      // A namespace that is being deleted accepts nothing new, and may lose a mirror before the source.
      if (!isTerminating(context, desired)) await unless(isNamespaceTerminating, create(context, desired, signal));
    }
    // Where it is gone by now, the cache will say so, and then it is created.
    else if (desired !== undefined && mirror !== undefined) {
      await unless(isMoot, change(context, mirror, desired, signal));
    }
    // Last: an endpoint that stays is always in one of them.
    for (const surplus of mirrors.filter((one) => one !== mirror)) await remove(context, surplus, signal);
  };
};

const desiredMirror = (
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

type Context = Pick<ControllerContext, 'client' | 'writer'>;

/** What has its name and is not in the cache was written a moment ago, or does not say that it is a mirror: that is put right. */
const create = async (context: Context, desired: MirroredSlice, signal: AbortSignal): Promise<void> => {
  const { client, writer } = context;
  try {
    await writer.create(ENDPOINT_SLICES, { ...desired }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const object = await client.get(ENDPOINT_SLICES, desired.metadata, signal);
    await change(context, { ...parseEndpointSlice(object), owned: ownedMeta(object) }, desired, signal);
  }
};

const change = async (
  { writer }: Context,
  actual: ActualMirror,
  desired: MirroredSlice,
  signal: AbortSignal,
): Promise<void> => {
  if (isMirrored(actual, desired)) return;
  const { namespace, name } = desired.metadata;
  await writer.merge(ENDPOINT_SLICES, { namespace, name }, mirrorPatch(actual, desired), {}, signal);
};

const remove = async ({ client }: Context, { metadata }: SliceFacts, signal: AbortSignal): Promise<void> => {
  const { namespace, name, uid } = metadata;
  await unless(isMoot, client.delete(ENDPOINT_SLICES, { namespace, name }, { preconditions: { uid } }, signal));
};

const isTerminating = ({ caches }: Pick<ControllerContext, 'caches'>, { metadata }: MirroredSlice): boolean =>
  caches.namespaces.get(metadata.namespace)?.isTerminating === true;

const unless = async (isExpected: (error: unknown) => boolean, request: Promise<unknown>): Promise<void> => {
  try {
    await request;
  } catch (error) {
    if (!isExpected(error)) throw error;
  }
};
