/** What messages of all versions of OpenFlow have in common: the header, greetings, questions for a sign of life, and errors. */
import { syntaxError } from '../errors.ts';

export const HEADER_LENGTH = 8;

export const MESSAGE = { hello: 0, error: 1, echoRequest: 2, echoReply: 3 } as const;

export interface Message {
  readonly version: number;
  readonly type: number;
  readonly xid: number;
  /** Behind the header. */
  readonly body: Buffer;
}

export const encode = (version: number, type: number, xid: number, body: Uint8Array = EMPTY): Buffer => {
  const bytes = Buffer.alloc(HEADER_LENGTH + body.length);
  bytes.writeUInt8(version, 0);
  bytes.writeUInt8(type, 1);
  bytes.writeUInt16BE(bytes.length, 2);
  bytes.writeUInt32BE(xid, 4);
  bytes.set(body, HEADER_LENGTH);
  return bytes;
};

const EMPTY = new Uint8Array();

/** Offers this version and no other: a bitmap (`OFPHET_VERSIONBITMAP`) of four bytes. */
export const encodeHello = (version: number): Buffer =>
  encode(version, MESSAGE.hello, 0, Buffer.from([0, 1, 0, 8, 0, 0, 0, 1 << version]));

export interface ErrorMessage {
  readonly type: number;
  readonly code: number;
}

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const decodeError = (body: Buffer): ErrorMessage => {
  if (body.length < 4) throw syntaxError('an error', hexOf(body));
  return { type: body.readUInt16BE(0), code: body.readUInt16BE(2) };
};

/** Puts messages together from pieces that are cut anywhere. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);

  /** @returns what the piece completed. @throws OpenflowError ERR_OPENFLOW_SYNTAX when nothing after it can be trusted */
  push(piece: Buffer): Message[] {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const messages: Message[] = [];
    let at = 0;
    while (bytes.length - at >= HEADER_LENGTH) {
      const length = bytes.readUInt16BE(at + 2);
      if (length < HEADER_LENGTH) throw syntaxError('a message', hexOf(bytes.subarray(at)));
      if (bytes.length - at < length) break;
      messages.push({
        version: bytes.readUInt8(at),
        type: bytes.readUInt8(at + 1),
        xid: bytes.readUInt32BE(at + 4),
        body: bytes.subarray(at + HEADER_LENGTH, at + length),
      });
      at += length;
    }
    this.#rest = bytes.subarray(at);
    return messages;
  }
}

export const hexOf = (bytes: Buffer): string => bytes.toString('hex', 0, 32);
