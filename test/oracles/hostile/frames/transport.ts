/** Transport headers, each with the marker as its payload. */
import type { Ip } from '../../../../net/ip.ts';
import { withChecksum, word } from '../../../e2e/support/packets/frames.ts';

export interface Flow {
  readonly srcPort?: number;
  readonly src: Ip;
  readonly dst: Ip;
  readonly port: number;
}

const SOURCE_PORT = 4444;

export const udpBody = ({ src, dst, port, srcPort = SOURCE_PORT }: Flow, payload: Buffer): Buffer => {
  const header = Buffer.from([...word(srcPort), ...word(port), ...word(8 + payload.length), 0, 0]);
  return withChecksum(src, dst, 17, [header, payload], 6);
};

/** A SYN that has data already, which RFC 9293 §3.4 lets it have. */
export const tcpSynBody = ({ src, dst, port }: Flow, payload: Buffer): Buffer => {
  const header = [
    ...word(SOURCE_PORT),
    ...word(port),
    0,
    0,
    0x12,
    0x34,
    0,
    0,
    0,
    0,
    0x50,
    0x02,
    0xff,
    0xff,
    0,
    0,
    0,
    0,
  ];
  return withChecksum(src, dst, 6, [Buffer.from(header), payload], 16);
};

/** RFC 9260 §3.3.2: an INIT chunk with a parameter that nobody knows and everybody skips. */
export const sctpInitBody = (flow: Flow, payload: Buffer): Buffer =>
  sctpBody(flow, { type: 1, verificationTag: 0 }, sctpParameter(UNKNOWN_PARAMETER, payload));

/** RFC 9260 §3.3.3: the answer, with the tag of that INIT and a cookie. */
export const sctpInitAckBody = (flow: Flow, payload: Buffer): Buffer =>
  sctpBody(flow, { type: 2, verificationTag: INITIATE_TAG }, sctpParameter(COOKIE_PARAMETER, payload));

const INITIATE_TAG = 1;
const UNKNOWN_PARAMETER = 0x8077;
const COOKIE_PARAMETER = 7;

const sctpParameter = (type: number, payload: Buffer): Buffer => {
  const padded = Buffer.concat([payload, Buffer.alloc((4 - (payload.length % 4)) % 4)]);
  return Buffer.from([...word(type), ...word(4 + payload.length), ...padded]);
};

const sctpBody = (
  { port, srcPort = SOURCE_PORT }: Flow,
  { type, verificationTag }: { readonly type: 1 | 2; readonly verificationTag: number },
  parameter: Buffer,
): Buffer => {
  const init = [0, 0, 0, INITIATE_TAG, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1];
  const chunk = Buffer.from([type, 0, ...word(4 + init.length + parameter.length), ...init, ...parameter]);
  const header = Buffer.from([...word(srcPort), ...word(port), 0, 0, 0, verificationTag, 0, 0, 0, 0]);
  const body = Buffer.concat([header, chunk]);
  body.writeUInt32LE(crc32c(body), 8);
  return body;
};

/** RFC 9260, Appendix A. */
const crc32c = (bytes: Buffer): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
};

/** RFC 2784, with Ethernet inside (RFC 7637 without its key). */
export const greBody = (payload: Buffer, type = 0x6558): Buffer =>
  Buffer.concat([Buffer.from([0, 0, ...word(type)]), payload]);

/** RFC 4303: what follows the index and the sequence number is opaque. */
export const espBody = (payload: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0x10, 0, 0, 0, 0, 1]), payload]);
