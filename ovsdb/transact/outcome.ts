/** What a server says of a transaction: RFC 7047 §4.1.3. */
import { operationError, ProtocolError } from '../errors.ts';
import { isUuid, type Uuid } from '../uuid.ts';
import { isObject, type WireRow } from '../wire/notation.ts';
import type { Operation } from './operation.ts';

/** The result of one operation: of an insert `uuid`, of a select `rows`, of update, mutate and delete `count`. */
export interface OperationResult {
  readonly uuid?: Uuid;
  readonly rows?: readonly WireRow[];
  readonly count?: number;
}

/**
 * The results in the order of the operations.
 * @throws OperationError for the operation that failed, or for the commit; then nothing was changed
 * @throws ProtocolError
 */
export const transactionOutcome = (operations: readonly Operation[], reply: unknown): OperationResult[] => {
  if (!Array.isArray(reply)) throw new ProtocolError('the result of a transaction is not an array');
  throwFailure(operations, reply);
  if (reply.length !== operations.length) {
    throw new ProtocolError(`${operations.length} operations have ${reply.length} results`);
  }
  return reply.map(operationResult);
};

/**
 * For a transaction that is not looked at operation by operation.
 * @throws OperationError, ProtocolError
 */
export const throwAnyFailure = (reply: unknown): void => {
  if (!Array.isArray(reply)) throw new ProtocolError('the result of a transaction is not an array');
  for (const result of reply) {
    if (!isObject(result) || typeof result['error'] !== 'string') continue;
    throw operationError({
      error: result['error'],
      details: detailsOf(result),
      index: undefined,
      operation: undefined,
      suspects: [],
    });
  }
};

/** Operations after the failed one have the result null; a failed commit is one more result after all of them. */
const throwFailure = (operations: readonly Operation[], results: readonly unknown[]): void => {
  for (const [index, result] of results.entries()) {
    if (!isObject(result) || typeof result['error'] !== 'string') continue;
    const details = detailsOf(result);
    const atCommit = index >= operations.length;
    throw operationError({
      error: result['error'],
      details,
      index: atCommit ? undefined : index,
      operation: operations[index],
      suspects: atCommit ? mentioned(operations, results, details ?? '') : [index],
    });
  }
};

/** ovsdb-server has beside the details of an I/O error what the system said (ovsdb_error_to_json): `No space left on device`. */
const detailsOf = ({ details, 'io-error': system }: Readonly<Record<string, unknown>>): string | undefined => {
  const parts = [details, typeof system === 'string' ? `(${system})` : undefined];
  const texts = parts.filter((part) => typeof part === 'string');
  return texts.length === 0 ? undefined : texts.join(' ');
};

/** ovsdb-server names the rows that break an index or a reference by their uuids, those just inserted too. */
const mentioned = (operations: readonly Operation[], results: readonly unknown[], details: string): number[] => {
  const uuids = new Set(details.match(UUIDS));
  if (uuids.size === 0) return [];
  return operations.flatMap((operation, index) => (uuids.has(rowOf(operation, results[index])) ? [index] : []));
};

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The uuid of the only row that an operation can be about, or an empty text. */
const rowOf = (operation: Operation, result: unknown): string => {
  if (operation.op === 'insert')
    return isObject(result) && Array.isArray(result['uuid']) ? String(result['uuid'][1]) : '';
  const [column, function_, value] = ('where' in operation ? operation.where[0] : undefined) ?? [];
  return column === '_uuid' && function_ === '==' && Array.isArray(value) ? String(value[1]) : '';
};

const operationResult = (result: unknown): OperationResult => {
  if (!isObject(result)) throw new ProtocolError('the result of an operation is not an object');
  const { uuid, rows, count } = result;
  const inserted: unknown = Array.isArray(uuid) ? uuid[1] : undefined;
  return {
    ...(isUuid(inserted) && { uuid: inserted }),
    ...(Array.isArray(rows) && { rows: rows.filter(isWireRow) }),
    ...(typeof count === 'number' && { count }),
  };
};

/** The columns' values are read by who knows the columns. */
const isWireRow = (row: unknown): row is WireRow => isObject(row);
