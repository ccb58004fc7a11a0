import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatResponse, ProtocolError, RequestReader, type ShimRequest } from './protocol.ts';

const encode = ({ env, stdin, runsPlugins }: ShimRequest): Buffer => {
  const variables = Object.entries(env).map(([key, value]) => `${key}=${value}\0`);
  const block = [...(runsPlugins ? ['UDN_CNI_RUNS=1\0'] : []), ...variables].join('');
  return Buffer.from(`udn-cni/1 ${Buffer.byteLength(block)} ${Buffer.byteLength(stdin)}\n${block}${stdin}`);
};

const read = (bytes: Buffer, cuts: readonly number[] = []): ShimRequest | undefined => {
  const reader = new RequestReader();
  const cutPoints = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let result: ShimRequest | undefined;
  for (const [index, from] of cutPoints.entries()) {
    const chunk = bytes.subarray(from, cutPoints[index + 1] ?? from);
    if (chunk.length > 0) result = reader.push(chunk);
  }
  return result;
};

describe('a request', () => {
  const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
  const request = fc.record({
    env: fc.dictionary(fc.stringMatching(/^CNI_[A-Z]{1,8}$/), text, { noNullPrototype: true }),
    stdin: fc.string({ unit: 'grapheme', maxLength: 300 }),
    runsPlugins: fc.boolean(),
  });

  it('survives any chunking', () => {
    fc.assert(
      fc.property(request, fc.array(fc.nat(2000), { maxLength: 12 }), (desired, cuts) => {
        expect({ ...read(encode(desired), cuts) }).toEqual({ ...desired, env: { ...desired.env } });
      }),
    );
  });

  it('keeps only CNI variables', () => {
    const bytes = encode({ env: { CNI_COMMAND: 'ADD', PATH: '/bin' }, stdin: '{}', runsPlugins: false });
    expect({ ...read(bytes)?.env }).toEqual({ CNI_COMMAND: 'ADD' });
  });

  it.each([
    ['GET / HTTP/1.1\r\n', /not a udn-cni\/1 request/],
    ['udn-cni/1 1 2 3\n', /not a udn-cni\/1 request/],
    ['udn-cni/1 99999999 0\n', /not a udn-cni\/1 request/],
    ['udn-cni/1 70000 0\n', /environment of 70000 bytes/],
    ['udn-cni/1 0 1048577\n', /configuration of 1048577 bytes/],
    ['x'.repeat(64), /no header line/],
    ['udn-cni/1 0 2\n{}more', /after the end/],
  ])('is refused as soon as it is wrong: %j', (bytes, message) => {
    expect(() => new RequestReader().push(Buffer.from(bytes))).toThrow(ProtocolError);
    expect(() => new RequestReader().push(Buffer.from(bytes))).toThrow(message);
  });

  it('never crashes the reader, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 80 })), (chunks) => {
        const reader = new RequestReader();
        try {
          for (const chunk of chunks) reader.push(Buffer.from(chunk));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
    );
  });
});

it('a response counts bytes, not characters', () => {
  expect(formatResponse(1, '{"msg":"ü"}').toString()).toBe('udn-cni/1 1 12\n{"msg":"ü"}');
});
