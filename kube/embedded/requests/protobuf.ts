/**
 * Bodies in protobuf: kubectl's `create namespace`, `create configmap` and their like send nothing else. Only the kinds
 * of the table below are understood; any other is answered with 415.
 */
import type { JsonRecord } from '../../is-record.ts';

type Type = 'string' | 'bytes' | 'bool' | 'int' | 'stringMap' | 'bytesMap' | Message;

/** Field number → name and type; `repeated` makes a list. */
interface Field {
  readonly name: string;
  readonly type: Type;
  readonly repeated?: boolean;
}

interface Message {
  readonly [field: number]: Field;
}

const field = (name: string, type: Type = 'string'): Field => ({ name, type });
const list = (name: string, type: Type = 'string'): Field => ({ name, type, repeated: true });

/** generated.proto of k8s.io/apimachinery meta/v1 and k8s.io/api core/v1; times and managed fields are left out. */
const OWNER: Message = {
  1: field('kind'),
  3: field('name'),
  4: field('uid'),
  5: field('apiVersion'),
  6: field('controller', 'bool'),
  7: field('blockOwnerDeletion', 'bool'),
};

const META: Message = {
  1: field('name'),
  2: field('generateName'),
  3: field('namespace'),
  11: field('labels', 'stringMap'),
  12: field('annotations', 'stringMap'),
  13: list('ownerReferences', OWNER),
  14: list('finalizers'),
};

const metadata = field('metadata', META);

const KINDS: Readonly<Record<string, Message>> = {
  Namespace: { 1: metadata },
  ConfigMap: {
    1: metadata,
    2: field('data', 'stringMap'),
    3: field('binaryData', 'bytesMap'),
    4: field('immutable', 'bool'),
  },
  Secret: { 1: metadata, 2: field('data', 'bytesMap'), 3: field('type'), 4: field('stringData', 'stringMap') },
  ServiceAccount: { 1: metadata, 4: field('automountServiceAccountToken', 'bool') },
};

/** What wraps every object: runtime.Unknown. */
const UNKNOWN: Message = {
  1: field('typeMeta', { 1: field('apiVersion'), 2: field('kind') }),
  2: field('raw', 'bytes'),
};

const MAGIC = Buffer.from('k8s\0');

/** Undefined when the bytes are of another kind, or not what they should be. */
export const decodeProtobuf = (bytes: Buffer): JsonRecord | undefined => {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  try {
    const { typeMeta, raw } = decode(UNKNOWN, bytes.subarray(MAGIC.length)) as {
      typeMeta?: { apiVersion?: string; kind?: string };
      raw?: string;
    };
    const { apiVersion, kind = '' } = typeMeta ?? {};
    const message = apiVersion === 'v1' ? KINDS[kind] : undefined;
    return message === undefined
      ? undefined
      : { apiVersion, kind, ...decode(message, Buffer.from(raw ?? '', 'base64')) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

const decode = (message: Message, bytes: Buffer): Record<string, unknown> => {
  const result: Record<string, unknown> = {};
  for (const { number, value } of readFields(bytes)) {
    const known = message[number];
    if (known === undefined) continue;
    const decoded = readValue(known.type, value);
    if (known.repeated) result[known.name] = [...((result[known.name] as unknown[]) ?? []), decoded];
    else if (known.type === 'stringMap' || known.type === 'bytesMap') {
      result[known.name] = { ...(result[known.name] as JsonRecord), ...(decoded as JsonRecord) };
    } else if (decoded !== '') result[known.name] = decoded;
  }
  return result;
};

const readValue = (type: Type, value: bigint | Buffer): unknown => {
  if (typeof value === 'bigint') return type === 'bool' ? value !== 0n : Number(value);
  if (type === 'string') return value.toString('utf8');
  // JSON has bytes as base64.
  if (type === 'bytes') return value.toString('base64');
  if (type === 'stringMap' || type === 'bytesMap') return readEntry(type === 'stringMap' ? 'string' : 'bytes', value);
  return typeof type === 'object' ? decode(type, value) : undefined;
};

const readEntry = (type: 'string' | 'bytes', bytes: Buffer): JsonRecord => {
  const { key = '', value = '' } = decode({ 1: field('key'), 2: field('value', type) }, bytes);
  return { [String(key)]: value };
};

/** https://protobuf.dev/programming-guides/encoding: varints and length-delimited fields are all that the kinds have. */
function* readFields(bytes: Buffer): Generator<{ number: number; value: bigint | Buffer }> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const [number, wireType] = [tag >> 3, tag & 7];
    if (wireType === 0) yield { number, value: varint() };
    else if (wireType === 2) {
      const length = Number(varint());
      if (at + length > bytes.length) throw new RangeError('a field is longer than its message');
      yield { number, value: bytes.subarray(at, at + length) };
      at += length;
    } else throw new RangeError(`wire type ${wireType}`);
  }
}
