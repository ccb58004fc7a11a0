/** Stable codes of everything that `api` refuses. Listed in docs/errors.md. */
export type ApiErrorCode =
  /** The text is not JSON. */
  | 'ERR_API_SYNTAX'
  /** A field is missing, has another type, or a value that its contract does not allow. */
  | 'ERR_API_FIELD'
  /** Fields that are fine by themselves contradict each other. */
  | 'ERR_API_RULE'
  /** An address range overlaps one that the cluster, or the network itself, uses already. */
  | 'ERR_API_OVERLAP'
  /** Allowed by the contract, but not implemented yet. */
  | 'ERR_API_UNSUPPORTED'
  /** A CNI version, command or configuration that this plugin does not speak. */
  | 'ERR_API_CNI';

export interface ApiErrorDetails {
  /** What was read: `UserDefinedNetwork ns/name`, `annotation k8s.ovn.org/node-id of Node n1`. */
  readonly object?: string;
  /** Path of the field that is wrong, for example `spec.layer3.subnets[1].cidr`; empty for the whole. */
  readonly field?: string;
  readonly cause?: unknown;
}

/** Input from outside that breaks its contract. `message` is a message for its author. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly object: string;
  readonly field: string;

  constructor(code: ApiErrorCode, message: string, { object = '', field = '', cause }: ApiErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.object = object;
    this.field = field;
  }
}

/** The error's message with the object in front of it, for logs where the object is not obvious. */
export const describeApiError = (error: ApiError): string =>
  error.object === '' ? error.message : `${error.object}: ${error.message}`;

/** The message for who has the object beside it: only the annotation is named, where it is about one. */
export const describeFinding = (error: ApiError): string =>
  error.object.startsWith('annotation ') ? describeApiError(error) : error.message;
