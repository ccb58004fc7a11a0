import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OpenflowError } from '../errors.ts';
import { decodeError, encode, encodeHello, MessageReader } from '../wire/message.ts';
import { decodePorts, encodeNoFlood, encodePortsRequest, PORT_MESSAGE, VERSION } from './message.ts';

const MAC = Buffer.from('0a0000000001', 'hex');

/** A patch port that is not flooded to, and the port of the bridge itself; more are to come. */
const REPLY = Buffer.from(
  [
    '000d0001',
    '0002aa55aa550003',
    '70617463682d62722d65785f6e6f6400',
    '000000100000000000000000000000000000000000000000',
    'fffe0a0000000001',
    '62722d65780000000000000000000000',
    '000000010000000100000000000000000000000000000000',
  ].join(''),
  'hex',
);

describe('messages about ports', () => {
  it('say which are reported', () => {
    expect(encodePortsRequest(7).toString('hex')).toBe('0110000c00000007000d0000');
  });

  it.each([
    [true, '00000010'],
    [false, '00000000'],
  ])('change one bit of the config: %s', (on, config) => {
    const mod = encodeNoFlood(3, { number: 5, mac: MAC }, on).toString('hex');
    expect(mod).toBe(`010f00200000000300050a0000000001${config}000000100000000000000000`);
  });

  it.each([0, -1, 0xff01, 0xfffe, 1.5, Number.NaN])('change no port %s', (number) => {
    expect(() => encodeNoFlood(3, { number, mac: MAC }, true)).toThrow(OpenflowError);
  });

  it('describe ports with what is to be known of them', () => {
    expect(decodePorts(REPLY)).toEqual({
      hasMore: true,
      ports: [
        { number: 2, mac: Buffer.from('aa55aa550003', 'hex'), name: 'patch-br-ex_nod', noFlood: true },
        { number: 0xfffe, mac: MAC, name: 'br-ex', noFlood: false },
      ],
    });
  });

  it('are put together from pieces', () => {
    const messages = [
      encodeHello(VERSION),
      encode(VERSION, PORT_MESSAGE.statsReply, 1, REPLY),
      encode(VERSION, PORT_MESSAGE.barrierReply, 2),
    ];
    const bytes = Buffer.concat(messages);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length })), (cuts) => {
        const reader = new MessageReader();
        const ends = [...cuts.sort((a, b) => a - b), bytes.length];
        const read = ends.flatMap((end, index) => reader.push(bytes.subarray(ends[index - 1] ?? 0, end)));
        expect(read.map(({ version, type, xid, body }) => encode(version, type, xid, body))).toEqual(messages);
      }),
    );
  });

  it('are refused with our own error when they are none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        for (const read of [decodePorts, decodeError, (all: Buffer) => new MessageReader().push(all)]) {
          try {
            read(Buffer.from(bytes));
          } catch (error) {
            if (!(error instanceof OpenflowError)) throw error;
          }
        }
      }),
    );
  });
});
