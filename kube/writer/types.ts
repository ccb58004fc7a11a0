import type { Clock } from '../../base/clock.ts';
import type { Outage } from '../outage.ts';
import type { KubeClient, KubeObject, ObjectInput, ObjectRef, ResourceType } from '../types.ts';

export interface WriterOptions {
  readonly client: Pick<KubeClient, 'get' | 'patch' | 'create'>;
  /** Of every write: what we own in the API carries this name. */
  readonly fieldManager: string;
  /** Requests under way at once. Default 8. */
  readonly concurrency?: number | undefined;
  /** Of these, in one namespace: requests that take long leave room for others. Default: all. */
  readonly perNamespace?: number | undefined;
  /** How long a write is retried before its callers get the error. Default 120 000. */
  readonly giveUpAfterMs?: number | undefined;
  readonly observe?: ((observation: WriterObservation) => void) | undefined;
  /** Of the server, when others use it too. */
  readonly outage?: Outage | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

export type WriterObservation =
  | { readonly kind: 'written'; readonly resource: ResourceType; readonly key: string; readonly milliseconds: number }
  | {
      readonly kind: 'retrying';
      readonly resource: ResourceType;
      readonly key: string;
      readonly error: unknown;
      readonly retryInMs: number;
    }
  | { readonly kind: 'failed'; readonly resource: ResourceType; readonly key: string; readonly error: unknown }
  /** A newer desired state took the place of one that had not been sent. */
  | { readonly kind: 'coalesced'; readonly resource: ResourceType; readonly key: string };

export interface ApplyOptions {
  readonly subresource?: string | undefined;
  /** Take fields from other managers. Default true: we own what we apply. */
  readonly force?: boolean | undefined;
  /** Default: the writer's. Another name is another set of owned fields. */
  readonly fieldManager?: string | undefined;
}

/** What a mirror says of an annotation. When it is not true any more, that costs one request more and nothing else. */
export interface KnownAnnotation {
  /** Undefined: the object does not have the annotation. */
  readonly value: string | undefined;
  /** Of the object. */
  readonly resourceVersion: string;
}

export interface JsonMapOptions {
  readonly known?: KnownAnnotation | undefined;
  /** Of the object that the changes are meant for. */
  readonly uid?: string | undefined;
}

/**
 * Writes desired state. Requests of one object go out one after the other; what is asked for in one turn of the event
 * loop, or while an earlier request of the object is under way, becomes one request. Conflicts, overload, server and
 * network errors are retried with backoff; the callers of what was coalesced all get the result of the one request.
 * When `signal` aborts, the caller is told and a write that nobody waits for any more is not sent.
 *
 * A write that names a uid (`metadata.uid` of what is applied or merged, `uid` of `patchJsonMap`) is meant for that very
 * object: when another one has its name, it is not retried but fails at once with ERR_KUBE_REPLACED (`isReplaced`), and it
 * is never combined with a write that is meant for another object.
 */
export interface Writer {
  /**
   * POST, which costs an API server less than an apply that creates. The fields are the manager's by `Update`: a later apply of the
   * same manager does not remove what it no longer names of them (see `ownedAlone`).
   * @throws KubeError `isAlreadyExists`, which is not observed as a failure: it is also what a request gets that is sent again
   * because its answer was lost
   */
  create(resource: ResourceType, object: ObjectInput, signal?: AbortSignal): Promise<KubeObject>;
  /** Server-side apply of all that the manager wants to own of the object. The latest wins. */
  apply(resource: ResourceType, object: ObjectInput, options?: ApplyOptions, signal?: AbortSignal): Promise<KubeObject>;
  /** JSON merge patch (RFC 7386). Several are composed: later keys win, other keys stay. */
  merge(
    resource: ResourceType,
    ref: ObjectRef,
    patch: Readonly<Record<string, unknown>>,
    options?: { readonly subresource?: string | undefined },
    signal?: AbortSignal,
  ): Promise<KubeObject>;
  /**
   * Changes some keys of an annotation whose value is a JSON object that several programs write. Undefined removes a
   * key; the annotation goes with its last key. Nothing is sent when nothing would change.
   * @throws KubeError ERR_KUBE_ANNOTATION when the value is no JSON object
   */
  patchJsonMap(
    resource: ResourceType,
    ref: ObjectRef,
    annotation: string,
    changes: Readonly<Record<string, unknown>>,
    options?: JsonMapOptions,
    signal?: AbortSignal,
  ): Promise<KubeObject>;
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>;
}
