/**
 * Whether a refusal means that another object has the name. A server says that as it likes: kube-apiserver answers an
 * update with another `metadata.uid` with 409, as it does when only the version differs, and a patch with 422, as if the
 * content were wrong. So it is asked which object is there.
 */
import { isConflict, isFieldManagerConflict, isInvalid, KubeError } from '../errors.ts';
import { isRecord } from '../is-record.ts';
import { refKey } from '../object-key.ts';
import type { KubeClient, KubeObject, ObjectRef, ResourceType } from '../types.ts';

/** The uid that a body names. */
export const uidIn = (body: Readonly<Record<string, unknown>>): string | undefined => {
  const { metadata } = body;
  const uid = isRecord(metadata) ? metadata['uid'] : undefined;
  return typeof uid === 'string' && uid !== '' ? uid : undefined;
};

export interface GuardedWrite {
  readonly resource: ResourceType;
  readonly ref: ObjectRef;
  readonly uid: string | undefined;
}

/**
 * Does `write`.
 * @throws KubeError ERR_KUBE_REPLACED or 404 when the object is not the one that was meant, else what `write` throws
 */
export const unlessReplaced = async (
  client: Pick<KubeClient, 'get'>,
  { resource, ref, uid }: GuardedWrite,
  write: () => Promise<KubeObject>,
  signal?: AbortSignal,
): Promise<KubeObject> => {
  try {
    return await write();
  } catch (error) {
    const isDoubtful = isInvalid(error) || (isConflict(error) && !isFieldManagerConflict(error));
    if (uid === undefined || !isDoubtful) throw error;
    const object = await client.get(resource, ref, signal);
    throw object.metadata.uid === uid ? error : replaced(ref, uid, object, error);
  }
};

export const replaced = (ref: ObjectRef, uid: string, { metadata }: KubeObject, cause?: unknown): KubeError =>
  new KubeError('ERR_KUBE_REPLACED', `${refKey(ref)} is another object now: ${metadata.uid}, not ${uid}`, { cause });
