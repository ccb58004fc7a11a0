/** What the API server refuses, as the Status object that a real one sends (k8s.io/apimachinery api/errors). */

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  /** Empty where a real server says none. */
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export const statusOf = ({ code, reason, message, details }: StatusError): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  ...(reason === '' ? {} : { reason }),
  ...(details === undefined ? {} : { details }),
  code,
});

/** The answer to a DELETE after which the object is gone. */
export const successStatus = (details: StatusDetails): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details,
});

/** What errors say of a resource. */
export interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** `pods` or `networkpolicies.networking.k8s.io`. */
const qualified = ({ group }: Named, name: string): string => (group === '' ? name : `${name}.${group}`);

const groupDetails = ({ group }: Named): { group?: string } => (group === '' ? {} : { group });

export const notFound = (resource: Named, name: string): StatusError =>
  new StatusError(404, 'NotFound', `${qualified(resource, resource.plural)} "${name}" not found`, {
    name,
    ...groupDetails(resource),
    kind: resource.plural,
  });

/** No such URL. */
export const noSuchPath = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (resource: Named, name: string): StatusError =>
  new StatusError(409, 'AlreadyExists', `${qualified(resource, resource.plural)} "${name}" already exists`, {
    name,
    ...groupDetails(resource),
    kind: resource.plural,
  });

export const conflict = (resource: Named, name: string, message: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource, resource.plural)} "${name}": ${message}`,
    { name, ...groupDetails(resource), kind: resource.plural },
  );

export const MODIFIED_MESSAGE =
  'the object has been modified; please apply your changes to the latest version and try again';

export const forbidden = (resource: Named, name: string, message: string, causes?: StatusCause[]): StatusError =>
  new StatusError(403, 'Forbidden', `${qualified(resource, resource.plural)} "${name}" is forbidden: ${message}`, {
    name,
    ...groupDetails(resource),
    kind: resource.plural,
    ...(causes === undefined ? {} : { causes }),
  });

/** One thing that is wrong with an object, `field.Error` of apimachinery. */
export interface FieldError {
  readonly field: string;
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueDuplicate'
    | 'FieldValueTypeInvalid'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany';
  readonly message: string;
}

export const required = (field: string, detail = ''): FieldError => ({
  field,
  reason: 'FieldValueRequired',
  message: detail === '' ? 'Required value' : `Required value: ${detail}`,
});

export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value) ?? 'null'}: ${detail}`,
});

export const forbiddenField = (field: string, detail: string): FieldError => ({
  field,
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${detail}`,
});

export const notSupported = (field: string, value: unknown, allowed: readonly unknown[]): FieldError => ({
  field,
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((a) => JSON.stringify(a)).join(', ')}`,
});

export const duplicate = (field: string, value: unknown): FieldError => ({
  field,
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}`,
});

export const invalid = (resource: Named, name: string, errors: readonly FieldError[]): StatusError => {
  const lines = errors.map(({ field, message }) => `${field}: ${message}`);
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${qualified(resource, resource.kind)} "${name}" is invalid: ${text}`, {
    name,
    ...groupDetails(resource),
    kind: resource.kind,
    causes: errors,
  });
};

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

/** A patch that can't be applied to the object as it is. */
export const unprocessable = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');

export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

export const unauthorized = (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized');

/** The history does not go back that far. */
export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message);
