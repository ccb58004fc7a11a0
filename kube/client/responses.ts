/** Reads what the server answered. */
import { KubeError, type StatusCause } from '../errors.ts';
import { isRecord, recordOr } from '../is-record.ts';
import type { TransportResponse } from '../transport/types.ts';
import type { KubeList, KubeObject } from '../types.ts';

/** @throws KubeError ERR_KUBE_STATUS unless the status is 2xx, ERR_KUBE_PROTOCOL when the body is not JSON */
export const readJson = async (response: TransportResponse, what: string): Promise<unknown> => {
  const text = await readText(response.body);
  if (response.status < 200 || response.status > 299) throw statusError(response, text, what);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError('ERR_KUBE_PROTOCOL', `${what}: the answer is not JSON: ${text.slice(0, 200)}`, { cause });
  }
};

/** An error from the Status object that the server sends as the body, or from whatever a proxy sent in its place. */
export const statusError = ({ status, headers }: TransportResponse, text: string, what: string): KubeError => {
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN);
  return errorOfStatus(parsedStatus(text), {
    what,
    httpStatus: status,
    text,
    ...(Number.isFinite(retryAfter) ? { retryAfterMs: retryAfter * 1000 } : {}),
  });
};

interface StatusContext {
  readonly what: string;
  readonly httpStatus?: number;
  readonly text?: string;
  readonly retryAfterMs?: number;
}

/** Also for a Status that came as the object of a watch's ERROR event. */
export const errorOfStatus = (status: Readonly<Record<string, unknown>>, context: StatusContext): KubeError => {
  const code = context.httpStatus ?? (typeof status['code'] === 'number' ? status['code'] : 500);
  const reason = typeof status['reason'] === 'string' ? status['reason'] : undefined;
  const details = recordOr(status['details']);
  const seconds = details['retryAfterSeconds'];
  const message = typeof status['message'] === 'string' ? status['message'] : (context.text ?? '').slice(0, 500);
  return new KubeError('ERR_KUBE_STATUS', `${context.what}: ${message.trim() || 'no message'} (${code})`, {
    status: code,
    reason,
    retryAfterMs: context.retryAfterMs ?? (typeof seconds === 'number' ? seconds * 1000 : undefined),
    causes: causesOf(details),
  });
};

export const asObject = (value: unknown, what: string): KubeObject => {
  if (isKubeObject(value)) return value;
  throw new KubeError('ERR_KUBE_PROTOCOL', `${what}: the answer is no object with a metadata.name`);
};

/** The other fields of `metadata` are the API's promise. */
export const isKubeObject = (value: unknown): value is KubeObject =>
  isRecord(value) && isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string';

export const asRecord = (value: unknown, what: string): Readonly<Record<string, unknown>> => {
  if (isRecord(value)) return value;
  throw new KubeError('ERR_KUBE_PROTOCOL', `${what}: the answer is no object`);
};

export const asList = (value: unknown, what: string): KubeList => {
  const body = asRecord(value, what);
  const metadata = recordOr(body['metadata']);
  const next = metadata['continue'];
  const remaining = metadata['remainingItemCount'];
  // A server may say `null` for an empty list: Go's nil slice.
  const items = body['items'] ?? [];
  if (!Array.isArray(items)) throw new KubeError('ERR_KUBE_PROTOCOL', `${what}: the answer is no list`);
  return {
    items: items.map((item) => asObject(item, what)),
    resourceVersion: String(metadata['resourceVersion'] ?? ''),
    ...(typeof next === 'string' && next !== '' ? { continue: next } : {}),
    ...(typeof remaining === 'number' ? { remainingItemCount: remaining } : {}),
  };
};

const readText = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

const parsedStatus = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return recordOr(JSON.parse(text));
  } catch {
    return {};
  }
};

const causesOf = (details: Readonly<Record<string, unknown>>): StatusCause[] => {
  const causes = details['causes'];
  if (!Array.isArray(causes)) return [];
  return causes.filter(isRecord).map(({ reason, message, field }) => ({
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof field === 'string' ? { field } : {}),
  }));
};
