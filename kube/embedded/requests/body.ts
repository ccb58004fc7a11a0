/** Bodies of requests: JSON, or YAML where the API takes it. */
import { parse } from 'yaml';
import { isRecord, type JsonRecord } from '../../is-record.ts';
import { badRequest, unsupportedMediaType } from '../status-error.ts';
import { decodeProtobuf } from './protobuf.ts';
import type { HttpRequest } from './types.ts';

const OBJECT_TYPES = ['application/json', 'application/yaml'];
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Without parameters. */
export const contentType = ({ headers }: HttpRequest): string =>
  (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/**
 * The object of a POST or PUT.
 * @throws StatusError 400 or 415
 */
export const readObject = (request: HttpRequest): JsonRecord => {
  const type = contentType(request);
  if (type === PROTOBUF) return decodeProtobuf(request.bytes()) ?? refuseType();
  if (type !== '' && !OBJECT_TYPES.includes(type)) return refuseType();
  const value = parseBody(request.body);
  if (isRecord(value)) return value;
  throw badRequest('the body of the request is no object');
};

const refuseType = (): never => {
  throw unsupportedMediaType(OBJECT_TYPES);
};

/** @throws StatusError 400 */
export const parseBody = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (cause) {
    return parseYaml(body, cause);
  }
};

const parseYaml = (body: string, cause: unknown): unknown => {
  try {
    return parse(body);
  } catch {
    throw badRequest(`error decoding request body: ${String(cause)}`);
  }
};
