/** Names of objects within one resource. */
import type { ObjectKey, ObjectRef } from './types.ts';

/** `namespace/name`, or `name` for a cluster-scoped object. */
export const keyOf = (object: { readonly metadata: ObjectRef }): ObjectKey => refKey(object.metadata);

export const refKey = ({ namespace, name }: ObjectRef): ObjectKey =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

/** The inverse of `refKey`. */
export const refOf = (key: ObjectKey): ObjectRef => {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};
