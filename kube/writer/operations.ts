/** What a writer may be asked to do with an object, and when two such wishes are one request. Pure. */
import { apiVersionOf } from '../client/resource-path.ts';
import { refKey } from '../object-key.ts';
import { composeMergePatches } from '../patch/merge-patch.ts';
import type { ObjectInput, ObjectRef, ResourceType } from '../types.ts';
import { uidIn } from './replaced.ts';
import type { KnownAnnotation } from './types.ts';

interface Target {
  readonly resource: ResourceType;
  readonly ref: ObjectRef;
}

export type WriteOperation = Target &
  (
    | { readonly kind: 'create'; readonly body: ObjectInput }
    | {
        readonly kind: 'apply';
        readonly body: ObjectInput;
        readonly subresource: string | undefined;
        readonly fieldManager: string;
        readonly force: boolean;
      }
    | {
        readonly kind: 'merge';
        readonly patch: Readonly<Record<string, unknown>>;
        readonly subresource: string | undefined;
      }
    | {
        readonly kind: 'json-map';
        readonly annotation: string;
        readonly changes: Readonly<Record<string, unknown>>;
        readonly known: KnownAnnotation | undefined;
        readonly uid: string | undefined;
      }
  );

/** Requests with the same key go out one after the other. */
export const targetKey = ({ resource, ref }: Target): string =>
  `${apiVersionOf(resource)}/${resource.plural}/${refKey(ref)}`;

/** Whose turn it is goes round namespaces, and round the resources of what is in none. */
export const laneOf = ({ resource, ref }: Target): string => ref.namespace ?? `/${resource.plural}`;

export const isNamespace = (lane: string): boolean => !lane.startsWith('/');

/** Of the very object that an operation is meant for, when it says so. */
export const uidOf = (operation: WriteOperation): string | undefined => {
  switch (operation.kind) {
    case 'create':
      return undefined;
    case 'apply':
      return uidIn(operation.body);
    case 'merge':
      return uidIn(operation.patch);
    case 'json-map':
      return operation.uid;
  }
};

/** One operation that does what `first` and then `next` do; undefined when there is none. */
export const combine = (first: WriteOperation, next: WriteOperation): WriteOperation | undefined => {
  // What is meant for an object that is gone must not reach its successor, nor fail what is meant for that.
  if (uidOf(first) !== uidOf(next)) return undefined;
  if (first.kind === 'apply' && next.kind === 'apply') return sameOwnership(first, next) ? next : undefined;
  if (first.kind === 'merge' && next.kind === 'merge' && first.subresource === next.subresource) {
    const patch = composeMergePatches(first.patch, next.patch);
    return patch === undefined ? undefined : { ...next, patch };
  }
  if (first.kind === 'json-map' && next.kind === 'json-map' && first.annotation === next.annotation) {
    return { ...next, changes: { ...first.changes, ...next.changes }, known: next.known ?? first.known };
  }
  return undefined;
};

type Apply = Extract<WriteOperation, { kind: 'apply' }>;

const sameOwnership = (a: Apply, b: Apply): boolean =>
  a.fieldManager === b.fieldManager && a.subresource === b.subresource && a.force === b.force;
