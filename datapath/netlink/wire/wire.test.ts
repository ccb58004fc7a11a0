import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAddress } from '../address/codec.ts';
import { NetlinkError } from '../errors.ts';
import { decodeLink } from '../link/codec.ts';
import { decodeRoute } from '../route/codec.ts';
import { attribute, nested, numberAttribute, readAttributes, readNested, readNumber, readText } from './attributes.ts';
import { NLM_F, NLMSG } from './constants.ts';
import { formatRequest, parseDatagram } from './message.ts';
import { decodeNetnsid } from './netnsid.ts';

const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array));

/** Bytes that look like attributes: lengths and types are plausible, now and then one is not. */
const attributes = fc
  .array(
    fc.record({ type: fc.nat(70), nested: fc.boolean(), value: fc.uint8Array({ maxLength: 40 }), cut: fc.nat(60) }),
    {
      maxLength: 12,
    },
  )
  .map((all) =>
    Buffer.concat(
      all.map(({ type, nested: isNested, value, cut }) => {
        const whole = isNested ? nested(type, attribute(value[0] ?? 1, value)) : attribute(type, value);
        return cut === 0 ? whole.subarray(0, Math.max(1, whole.length - 5)) : whole;
      }),
    ),
  );

describe('every parser of kernel bytes', () => {
  const parsers: [string, number, (bytes: Buffer) => unknown][] = [
    ['attributes', 0, readAttributes],
    ['datagram', 16, parseDatagram],
    ['link', 16, decodeLink],
    ['address', 8, decodeAddress],
    ['route', 12, decodeRoute],
    ['namespace id', 4, decodeNetnsid],
  ];

  it.each(parsers)('%s: gives a value or a NetlinkError for any bytes', (_, headerLength, parse) => {
    const header = fc.uint8Array({ minLength: headerLength, maxLength: headerLength });
    const plausible = fc.tuple(header, attributes).map((parts) => Buffer.concat(parts));
    fc.assert(
      fc.property(fc.oneof(bytes, plausible), (input) => {
        try {
          parse(input);
        } catch (error) {
          expect(error).toBeInstanceOf(NetlinkError);
          expect((error as NetlinkError).code).toBe('ERR_NETLINK_MALFORMED');
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(parsers.slice(2))('%s: is the same with attributes of a newer kernel', (_, headerLength, parse) => {
    const header = Buffer.alloc(headerLength);
    // Families: IPv4 in the first byte, so that addresses and routes are read at all.
    header[0] = 2;
    const base = Buffer.concat([
      header,
      attribute(1, Uint8Array.of(10, 0, 0, 1)),
      attribute(2, Uint8Array.of(10, 0, 0, 1)),
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 16_000 }), fc.uint8Array({ maxLength: 60 }), (type, value) => {
        expect(parse(Buffer.concat([base, attribute(type, value), nested(type + 1, value)]))).toEqual(parse(base));
      }),
    );
  });
});

describe('attributes', () => {
  it('come back as they were written', () => {
    const list = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 16_383 }), fc.uint8Array({ maxLength: 50 })), {
      selector: ([type]) => type,
    });
    fc.assert(
      fc.property(list, (all) => {
        const read = readAttributes(Buffer.concat(all.map(([type, value]) => attribute(type, value))));
        expect([...read].map(([type, value]) => [type, new Uint8Array(value)])).toEqual(all);
      }),
    );
  });

  it('mark what has attributes inside, as strict kernels want', () => {
    const value = nested(18, numberAttribute(4, 1400));
    expect(value.readUInt16LE(2)).toBe(0x8000 | 18);
    expect(readNumber(readNested(readAttributes(value), 18), 4)).toBe(1400);
    expect(readNested(readAttributes(value), 5).size).toBe(0);
  });

  it('read what is known of a longer value, and nothing of a shorter one', () => {
    const read = readAttributes(Buffer.concat([attribute(1, Buffer.alloc(8, 1)), attribute(2, Buffer.alloc(3, 1))]));
    expect(readNumber(read, 1)).toBe(0x0101_0101);
    expect(readNumber(read, 2)).toBeUndefined();
  });

  it('end text at the first NUL, or at the end', () => {
    const read = readAttributes(
      Buffer.concat([attribute(1, Buffer.from('eth0\0\0x')), attribute(2, Buffer.from('lo'))]),
    );
    expect([readText(read, 1), readText(read, 2), readText(read, 3)]).toEqual(['eth0', 'lo', undefined]);
  });
});

describe('datagrams', () => {
  const message = (type: number, flags: number, payload: Uint8Array, seq = 7): Buffer =>
    Buffer.concat(formatRequest({ type, flags, payload }, seq));
  const int = (value: number): Buffer => Buffer.from(Int32Array.of(value).buffer);

  it('hold several answers', () => {
    const { answers, interrupted } = parseDatagram(
      Buffer.concat([
        message(16, 2, Buffer.from('abcd')),
        message(16, 2, Buffer.alloc(0), 8),
        message(NLMSG.DONE, 2, int(0)),
      ]),
    );
    expect(interrupted).toBe(false);
    expect(answers).toEqual([
      { kind: 'data', seq: 7, type: 16, payload: Buffer.from('abcd') },
      { kind: 'data', seq: 8, type: 16, payload: Buffer.alloc(0) },
      { kind: 'end', seq: 7, errno: 0, extAck: undefined },
    ]);
  });

  it('say that a list is not reliable', () => {
    expect(parseDatagram(message(16, NLM_F.DUMP_INTR, Buffer.alloc(0))).interrupted).toBe(true);
  });

  it.each([
    ['capped', NLM_F.CAPPED, message(24, 5, Buffer.alloc(13)).subarray(0, 16)],
    ['whole', 0, Buffer.concat([message(24, 5, Buffer.alloc(13)), Buffer.alloc(3)])],
  ])('give the explanation behind a %s refused request', (_, flags, refused) => {
    const explanation = Buffer.concat([
      attribute(2, int(28)),
      attribute(1, Buffer.from('Nexthop has invalid gateway\0')),
    ]);
    const error = message(NLMSG.ERROR, flags | NLM_F.ACK_TLVS, Buffer.concat([int(-101), refused, explanation]));
    expect(parseDatagram(error).answers).toEqual([
      { kind: 'end', seq: 7, errno: 101, extAck: 'Nexthop has invalid gateway' },
    ]);
  });

  it('end a dump with an errno and its explanation', () => {
    const text = attribute(1, Buffer.from('no such table\0'));
    const done = message(NLMSG.DONE, NLM_F.ACK_TLVS, Buffer.concat([int(-2), text]));
    expect(parseDatagram(done).answers).toEqual([{ kind: 'end', seq: 7, errno: 2, extAck: 'no such table' }]);
  });
});
