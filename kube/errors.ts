/** Stable codes of everything that `kube` refuses. Listed in docs/errors.md. */
export type KubeErrorCode =
  /** The server answered with an error: see `status` and `reason`. */
  | 'ERR_KUBE_STATUS'
  /** No answer, or only a part of one: connection refused, reset, closed. */
  | 'ERR_KUBE_NETWORK'
  /** No answer in time. */
  | 'ERR_KUBE_TIMEOUT'
  /** An answer that is not what the API promises, for example a watch line that is not JSON. */
  | 'ERR_KUBE_PROTOCOL'
  /** A kubeconfig, service account or credential plugin that can't be used. */
  | 'ERR_KUBE_CONFIG'
  /** The content of an annotation that several programs share is not what they agreed on. */
  | 'ERR_KUBE_ANNOTATION'
  /** A write was meant for one object (`metadata.uid`), and another one has its name now. */
  | 'ERR_KUBE_REPLACED'
  /** A write of a program that may lead no longer. It was not sent. */
  | 'ERR_KUBE_NOT_LEADING'
  /** What an embedded server kept of an earlier life can't be read. */
  | 'ERR_KUBE_DATA';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface KubeErrorDetails {
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** The Status object's reason, for example `AlreadyExists`. */
  readonly reason?: string | undefined;
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly cause?: unknown;
}

export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: KubeErrorCode;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly StatusCause[];

  constructor(code: KubeErrorCode, message: string, details: KubeErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.reason = details.reason;
    this.retryAfterMs = details.retryAfterMs;
    this.causes = details.causes ?? [];
  }
}

const hasStatus = (error: unknown, status: number): error is KubeError =>
  error instanceof KubeError && error.status === status;

export const isUnauthorized = (error: unknown): error is KubeError => hasStatus(error, 401);
export const isForbidden = (error: unknown): error is KubeError => hasStatus(error, 403);
/** Nothing is created in a namespace that is being deleted (admission plugin NamespaceLifecycle). */
export const isNamespaceTerminating = (error: unknown): error is KubeError =>
  isForbidden(error) && error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
export const isNotFound = (error: unknown): error is KubeError => hasStatus(error, 404);
/** 409 also when something exists already: see `isAlreadyExists`. */
export const isConflict = (error: unknown): error is KubeError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists';
export const isAlreadyExists = (error: unknown): error is KubeError =>
  hasStatus(error, 409) && error.reason === 'AlreadyExists';
/** A resource version or continue token that the server has forgotten. */
export const isGone = (error: unknown): error is KubeError => hasStatus(error, 410);
export const isInvalid = (error: unknown): error is KubeError => hasStatus(error, 422);
export const isTooManyRequests = (error: unknown): error is KubeError => hasStatus(error, 429);
/** The object that a write was meant for is gone, and another one has its name. Never true together with `isConflict`. */
export const isReplaced = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.code === 'ERR_KUBE_REPLACED';
/** No object is missing, but the resource, its version or its subresource: a CRD is missing, or another one than this program needs. */
const isNotServed = (error: unknown): boolean =>
  isNotFound(error) && /could not find the requested resource|page not found/.test(error.message);
/**
 * The API server's own word that it does not serve the resource: a Status, or the text that it has for groups that it does not know. A
 * proxy in front of it has pages of its own.
 */
export const isAbsentResource = (error: unknown): error is KubeError =>
  isNotFound(error) && ABSENT_RESOURCE.test(error.message);
const ABSENT_RESOURCE = /(?:^|: )(?:the server could not find the requested resource|404 page not found)(?: \(404\))?$/;
/** What a write was for is gone, or goes with its namespace: nothing is left to be written, and nobody has to know. */
export const isMoot = (error: unknown): error is KubeError =>
  (isNotFound(error) && !isNotServed(error)) || isReplaced(error) || isNamespaceTerminating(error);
/** Server-side apply without force met fields of another manager. */
export const isFieldManagerConflict = (error: unknown): error is KubeError =>
  isConflict(error) && error.causes.some(({ reason }) => reason === 'FieldManagerConflict');
/** No answer, or only a part of one. */
export const isUnavailable = (error: unknown): error is KubeError =>
  error instanceof KubeError && (error.code === 'ERR_KUBE_NETWORK' || error.code === 'ERR_KUBE_TIMEOUT');
/** The request may succeed when it is sent again as it is: no answer, 429, 5xx. */
export const isTransient = (error: unknown): error is KubeError =>
  isUnavailable(error) || isTooManyRequests(error) || (error instanceof KubeError && (error.status ?? 0) >= 500);
