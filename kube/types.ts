/**
 * The vocabulary of the Kubernetes API as this project uses it. Bodies stay `unknown` beyond `metadata`: what a field
 * means is decided where it is read, by a schema of `api/`.
 */

/** Where a kind is served. `plural` is the name in the URL. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Who set which fields, Kubernetes API conventions "Field management". `fieldsV1` is a tree of `f:`, `k:`, `v:` keys. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

interface CommonMeta {
  readonly namespace?: string;
  readonly generateName?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** The metadata of an object that the server sent. */
export interface ObjectMeta extends CommonMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object that the server sent. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** An object on its way to the server. `apiVersion` and `kind` are filled in from the resource when they are absent. */
export interface ObjectInput {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: CommonMeta & {
    /** Absent only together with `generateName`. */
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly [field: string]: unknown;
}

/** Names one object of a resource. `namespace` is absent for cluster-scoped resources. */
export interface ObjectRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `namespace/name`, or `name` for cluster-scoped objects. */
export type ObjectKey = string;

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Items per page. Absent: everything at once. */
  readonly limit?: number | undefined;
  /** From the page before. */
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

/** One page. */
export interface KubeList {
  readonly items: readonly KubeObject[];
  /** Of the whole list, the same on every page: where a watch starts. */
  readonly resourceVersion: string;
  /** Present when there are more pages. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Absent or `0`: starts with an ADDED event per object. */
  readonly resourceVersion?: string | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  /** After how many seconds the server ends the stream. */
  readonly timeoutSeconds?: number | undefined;
  readonly sendInitialEvents?: boolean | undefined;
}

/** A line of a watch. `object` of an ERROR is a Status; of a BOOKMARK it has little more than a resourceVersion. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Readonly<Record<string, unknown>>;
}

/** The bytes of a watch, in chunks as they arrived. Leaving the loop ends the request. */
export type WatchStream = AsyncIterable<Uint8Array>;

/** RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  /** RFC 7386. */
  | { readonly type: 'merge'; readonly body: unknown }
  /** Built-in kinds only: the server answers 415 for custom resources. */
  | { readonly type: 'strategic'; readonly body: unknown }
  /** Server-side apply: `body` is all that the field manager wants to own. Creates the object when it is absent. */
  | { readonly type: 'apply'; readonly body: ObjectInput; readonly fieldManager: string; readonly force?: boolean };

export interface WriteOptions {
  /** For example `status`. */
  readonly subresource?: string | undefined;
  readonly fieldManager?: string | undefined;
  /** The server does everything but store it. */
  readonly dryRun?: boolean | undefined;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  /** Answered with 409 when the object is another one. */
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined };
  readonly dryRun?: boolean | undefined;
}

/**
 * The API server. Every method throws KubeError and, when `signal` aborts, the signal's reason. Nothing is retried here,
 * except a request that a kept-alive connection lost before the server could have seen it and one that was refused with
 * 401 while newer credentials are on disk.
 */
export interface KubeClient {
  get(resource: ResourceType, ref: ObjectRef, signal?: AbortSignal): Promise<KubeObject>;
  /** One page. */
  list(resource: ResourceType, options?: ListOptions, signal?: AbortSignal): Promise<KubeList>;
  /** Resolves when the server has accepted the watch. */
  watch(resource: ResourceType, options?: WatchOptions, signal?: AbortSignal): Promise<WatchStream>;
  create(
    resource: ResourceType,
    object: ObjectInput,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<KubeObject>;
  /** PUT: 409 when `metadata.resourceVersion` is given and not the stored one. */
  update(
    resource: ResourceType,
    object: ObjectInput,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<KubeObject>;
  patch(
    resource: ResourceType,
    ref: ObjectRef,
    patch: Patch,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<KubeObject>;
  /** What the server answered: the object while it is terminating, or a Status when it is gone. 404 throws. */
  delete(
    resource: ResourceType,
    ref: ObjectRef,
    options?: DeleteOptions,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Anything else, for example `GET /version`. The parsed body. */
  request(request: RawRequest, signal?: AbortSignal): Promise<unknown>;
  /** Closes the connections. Requests under way fail. */
  close(): void;
}

export interface RawRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}
