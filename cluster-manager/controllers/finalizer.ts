/** Finalizers without losing those of others. */
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient, ObjectRef, ResourceType } from '../../kube/types.ts';
import { FIELD_MANAGER } from '../field-manager.ts';

/**
 * @param finalizers as the cache has them; when they have changed meanwhile the server refuses, and the caller's retry
 *   sees the new ones
 */
export const removeFinalizer = async (
  client: Pick<KubeClient, 'patch'>,
  resource: ResourceType,
  ref: ObjectRef,
  finalizers: readonly string[],
  finalizer: string,
  signal?: AbortSignal,
): Promise<void> => {
  const index = finalizers.indexOf(finalizer);
  if (index < 0) return;
  const path = `/metadata/finalizers/${index}`;
  try {
    await client.patch(
      resource,
      ref,
      {
        type: 'json',
        operations: [
          { op: 'test', path, value: finalizer },
          { op: 'remove', path },
        ],
      },
      { fieldManager: FIELD_MANAGER },
      signal,
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
};
