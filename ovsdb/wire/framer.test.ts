import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageFramer } from './framer.ts';

const message = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());

/** Cuts a buffer at the given places. */
const cut = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const ends = [...cuts.map((cutPoint) => cutPoint % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};

describe('MessageFramer', () => {
  it('gives back every message, however the stream is cut', () => {
    const space = fc.constantFrom('', '\n', ' \r\n\t');
    fc.assert(
      fc.property(fc.array(fc.tuple(message, space)), fc.array(fc.nat()), (messages, cuts) => {
        const stream = Buffer.from(messages.map(([it, after]) => JSON.stringify(it) + after).join(''));
        const framer = new MessageFramer(1 << 20);
        const received = cut(stream, cuts).flatMap((chunk) => framer.push(chunk));
        expect(received.map((text) => JSON.parse(text))).toEqual(
          messages.map(([it]) => JSON.parse(JSON.stringify(it))),
        );
      }),
    );
  });

  it('is not confused by brackets, quotes and backslashes in strings, nor by characters of several bytes', () => {
    const tricky = { '{"\\': ['}', ']"', '\\\\"', 'ü€😀', '\u2028'] };
    const bytes = Buffer.from(JSON.stringify(tricky));
    const framer = new MessageFramer(1000);
    const received = [...bytes].flatMap((byte) => framer.push(Buffer.from([byte])));
    expect(received.map((text) => JSON.parse(text))).toEqual([tricky]);
  });

  it('refuses what does not begin like an object', () => {
    expect(() => new MessageFramer(100).push(Buffer.from(' [1]'))).toThrow(
      expect.objectContaining({ code: 'ERR_OVSDB_PROTOCOL' }),
    );
    expect(() => new MessageFramer(100).push(Buffer.from('HTTP/1.1'))).toThrow('0x48');
  });

  it('never holds more than it is allowed to', () => {
    const framer = new MessageFramer(10);
    expect(framer.push(Buffer.from('{"a":1}{"b":2}'))).toHaveLength(2);
    framer.push(Buffer.from('{"long":'));
    expect(() => framer.push(Buffer.from('"1234'))).toThrow('larger than 10 bytes');
  });
});
