/** Everything this package throws. `code` is stable; the message is for people. */
import type { Operation } from './transact/operation.ts';

/** `code` begins with ERR_OVSDB_ and does not change between releases. */
export class OvsdbError extends Error {
  override readonly name: string = 'OvsdbError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The server sent what RFC 7047 and ovsdb-server(7) do not allow, or more than the configured limit. */
export class ProtocolError extends OvsdbError {
  override readonly name = 'ProtocolError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_OVSDB_PROTOCOL', message, options);
  }
}

/** There is no usable connection. What was asked has not been sent. */
export class NotConnectedError extends OvsdbError {
  override readonly name = 'NotConnectedError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_OVSDB_NOT_CONNECTED', message, options);
  }
}

/** The connection ended before the reply came. A request that only reads can be repeated. */
export class ConnectionLostError extends OvsdbError {
  override readonly name = 'ConnectionLostError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_OVSDB_CONNECTION_LOST', message, options);
  }
}

/** A transaction was sent and no reply came: it may or may not have been committed. `cause` says why. */
export class OutcomeUnknownError extends OvsdbError {
  override readonly name = 'OutcomeUnknownError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_OVSDB_OUTCOME_UNKNOWN', message, options);
  }
}

/** A server did not answer in time; for a transaction it is the `cause` of an OutcomeUnknownError. */
export class TimeoutError extends OvsdbError {
  override readonly name = 'TimeoutError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_OVSDB_TIMEOUT', message, options);
  }
}

/** The server refused a request as a whole: `error` is what it said, for example "unknown database". */
export class RequestError extends OvsdbError {
  override readonly name = 'RequestError';
  readonly method: string;
  readonly error: string;
  readonly details: string | undefined;

  constructor(method: string, error: string, details: string | undefined) {
    super('ERR_OVSDB_REQUEST', `${method}: ${error}${details === undefined ? '' : `: ${details}`}`);
    this.method = method;
    this.error = error;
    this.details = details;
  }
}

/** The client's model and the server's schema, or a value and its column, do not fit. */
export class SchemaError extends OvsdbError {
  override readonly name = 'SchemaError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_OVSDB_SCHEMA', message, options);
  }
}

/** What the server said about the operation that made a transaction fail. */
export interface OperationFailure {
  /** RFC 7047 §3.1 and §5.2, for example "constraint violation". */
  readonly error: string;
  readonly details: string | undefined;
  /** Position in the transaction; undefined when the transaction failed as a whole, at commit. */
  readonly index: number | undefined;
  readonly operation: Operation | undefined;
  /** The operations that can be to blame: the failed one, or at commit those on rows that the details mention. */
  readonly suspects: readonly number[];
}

/** A transaction failed and changed nothing. Subclasses stand for the error strings of RFC 7047. */
export class OperationError extends OvsdbError implements OperationFailure {
  override readonly name: string = 'OperationError';
  readonly error: string;
  readonly details: string | undefined;
  readonly index: number | undefined;
  readonly operation: Operation | undefined;
  readonly suspects: readonly number[];

  constructor(failure: OperationFailure, code = 'ERR_OVSDB_OPERATION') {
    super(code, describe(failure));
    this.error = failure.error;
    this.details = failure.details;
    this.index = failure.index;
    this.operation = failure.operation;
    this.suspects = failure.suspects;
  }
}

const describe = ({ error, details, index, operation }: OperationFailure): string => {
  const table = operation !== undefined && 'table' in operation ? ` on ${operation.table}` : '';
  const where = operation === undefined ? 'commit' : `operation ${index} (${operation.op}${table})`;
  return `${where}: ${error}${details === undefined ? '' : `: ${details}`}`;
};

/** RFC 7047 §5.2.1: two inserts of one transaction have the same uuid-name. */
export class DuplicateUuidNameError extends OperationError {
  override readonly name = 'DuplicateUuidNameError';
}
/** RFC 7047 §3.1, §5.2: a value is not allowed in its column, a set has too few or too many elements, or an index would hold a value twice. */
export class ConstraintViolationError extends OperationError {
  override readonly name = 'ConstraintViolationError';
}
/** RFC 7047 §4.1.3: a strong reference would point to no row. */
export class ReferentialIntegrityError extends OperationError {
  override readonly name = 'ReferentialIntegrityError';
}
/** RFC 7047 §5.2.4: a mutation by something mathematics does not know, for example a division by zero. */
export class DomainError extends OperationError {
  override readonly name = 'DomainError';
}
/** RFC 7047 §5.2.4: the result of a mutation does not fit into 64 bits. */
export class RangeViolationError extends OperationError {
  override readonly name = 'RangeViolationError';
}
/** RFC 7047 §5.2.6: a `wait` did not come true in time. */
export class WaitTimedOutError extends OperationError {
  override readonly name = 'WaitTimedOutError';
}
/** RFC 7047 §4.1.3: the server has too little memory, disk space or the like. */
export class ResourcesExhaustedError extends OperationError {
  override readonly name = 'ResourcesExhaustedError';
}
/** RFC 7047 §4.1.3: the server could not write to its storage. */
export class InputOutputError extends OperationError {
  override readonly name = 'InputOutputError';
}
/** RFC 7047 §5.2.7: a durable commit is not possible for this database. */
export class NotSupportedError extends OperationError {
  override readonly name = 'NotSupportedError';
}
/** RFC 7047 §5.2.8: the transaction has an `abort`. */
export class AbortedError extends OperationError {
  override readonly name = 'AbortedError';
}
/** RFC 7047 §5.2.10: the transaction asserts a lock that this client does not own. */
export class NotOwnerError extends OperationError {
  override readonly name = 'NotOwnerError';
}
/** RFC 7047 §4.1.4: the transaction was canceled. */
export class CanceledError extends OperationError {
  override readonly name = 'CanceledError';
}
/** RFC 7047 §3.1: the operation itself is not well formed, or names a table or column that the server does not have. */
export class SyntaxViolationError extends OperationError {
  override readonly name = 'SyntaxViolationError';
}
/** ovsdb-server(7), "Role-Based Access Control". */
export class PermissionError extends OperationError {
  override readonly name = 'PermissionError';
}
/** ovsdb(7), "Clustered": the cluster has no leader, lost its quorum, or this member may not write now. */
export class ClusterError extends OperationError {
  override readonly name = 'ClusterError';
}

type OperationErrorClass = new (failure: OperationFailure, code?: string) => OperationError;

const CLASSES: Readonly<Record<string, readonly [code: string, class_: OperationErrorClass]>> = {
  'duplicate uuid-name': ['ERR_OVSDB_DUPLICATE_UUID_NAME', DuplicateUuidNameError],
  'duplicate uuid name': ['ERR_OVSDB_DUPLICATE_UUID_NAME', DuplicateUuidNameError],
  'duplicate uuid': ['ERR_OVSDB_DUPLICATE_UUID_NAME', DuplicateUuidNameError],
  'constraint violation': ['ERR_OVSDB_CONSTRAINT_VIOLATION', ConstraintViolationError],
  'referential integrity violation': ['ERR_OVSDB_REFERENTIAL_INTEGRITY', ReferentialIntegrityError],
  'domain error': ['ERR_OVSDB_DOMAIN', DomainError],
  'range error': ['ERR_OVSDB_RANGE', RangeViolationError],
  'timed out': ['ERR_OVSDB_WAIT_TIMED_OUT', WaitTimedOutError],
  'resources exhausted': ['ERR_OVSDB_RESOURCES_EXHAUSTED', ResourcesExhaustedError],
  'I/O error': ['ERR_OVSDB_IO', InputOutputError],
  'not supported': ['ERR_OVSDB_NOT_SUPPORTED', NotSupportedError],
  aborted: ['ERR_OVSDB_ABORTED', AbortedError],
  'not owner': ['ERR_OVSDB_NOT_OWNER', NotOwnerError],
  canceled: ['ERR_OVSDB_CANCELED', CanceledError],
  'syntax error': ['ERR_OVSDB_SYNTAX', SyntaxViolationError],
  'unknown column': ['ERR_OVSDB_SYNTAX', SyntaxViolationError],
  'unknown table': ['ERR_OVSDB_SYNTAX', SyntaxViolationError],
  'unknown database': ['ERR_OVSDB_SYNTAX', SyntaxViolationError],
  'permission error': ['ERR_OVSDB_PERMISSION', PermissionError],
  'cluster error': ['ERR_OVSDB_CLUSTER', ClusterError],
  'not leader': ['ERR_OVSDB_CLUSTER', ClusterError],
  'not allowed': ['ERR_OVSDB_CLUSTER', ClusterError],
};

/** The error class of the server's error string; `OperationError` itself for a string that no RFC or man page names. */
export const operationError = (failure: OperationFailure): OperationError => {
  const known = Object.hasOwn(CLASSES, failure.error) ? CLASSES[failure.error] : undefined;
  if (known === undefined) return new OperationError(failure);
  const [code, ErrorClass] = known;
  return new ErrorClass(failure, code);
};

/**
 * What an owner wants is not in the database, and it is not just a matter of time. `code` is that of the transaction's
 * error, or
 * - ERR_OVSDB_SHADOWED: another owner wants the same row otherwise, and wins;
 * - ERR_OVSDB_CONFLICT: a row that is not to be touched has the same value in a unique index;
 * - ERR_OVSDB_INVALID: a value does not fit its column, or the table or column is not replicated;
 * - ERR_OVSDB_UNSETTLED: what was written does not stay, because somebody else changes it again and again.
 */
export class ReconcileError extends OvsdbError {
  override readonly name = 'ReconcileError';
  readonly owner: string;

  constructor(code: string, owner: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.owner = owner;
  }
}

/** True when the same transaction can succeed later without anything being changed in it. */
export const isServerTrouble = (error: unknown): boolean =>
  error instanceof NotConnectedError ||
  error instanceof OutcomeUnknownError ||
  error instanceof ClusterError ||
  error instanceof ResourcesExhaustedError ||
  error instanceof InputOutputError;
