/**
 * The few messages of OpenFlow 1.0 that tell and change how ports are configured (OpenFlow 1.0.1, 5): only there a port can be
 * one that is not flooded to. Open vSwitch tells ports in OpenFlow 1.0, too, as OpenFlow 1.3 does (`OFPMP_PORT_DESC`), in as
 * many messages as it takes.
 */
import { invalid, syntaxError } from '../errors.ts';

export const VERSION = 1;
export const HEADER_LENGTH = 8;

export const MESSAGE = {
  hello: 0,
  error: 1,
  echoRequest: 2,
  echoReply: 3,
  portMod: 15,
  statsRequest: 16,
  statsReply: 17,
  barrierRequest: 18,
  barrierReply: 19,
} as const;

export interface Message {
  readonly version: number;
  readonly type: number;
  readonly xid: number;
  /** Behind the header. */
  readonly body: Buffer;
}

export interface PortConfig {
  /** 65534 is the bridge's own. */
  readonly number: number;
  /** A change has to name it. */
  readonly mac: Buffer;
  /** Cut at 15 characters. */
  readonly name: string;
  readonly noFlood: boolean;
}

export const encode = (type: number, xid: number, body: Uint8Array = EMPTY): Buffer => {
  const bytes = Buffer.alloc(HEADER_LENGTH + body.length);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt8(type, 1);
  bytes.writeUInt16BE(bytes.length, 2);
  bytes.writeUInt32BE(xid, 4);
  bytes.set(body, HEADER_LENGTH);
  return bytes;
};

const EMPTY = new Uint8Array();

/** Which ports there are, and how they are configured. */
export const encodePortsRequest = (xid: number): Buffer => {
  const body = Buffer.alloc(STATS_HEADER);
  body.writeUInt16BE(PORT_DESCRIPTIONS, 0);
  return encode(MESSAGE.statsRequest, xid, body);
};

/** @throws OpenflowError ERR_OPENFLOW_INVALID when OpenFlow 1.0 has no such port */
export const encodeNoFlood = (
  xid: number,
  { number, mac }: Pick<PortConfig, 'number' | 'mac'>,
  on: boolean,
): Buffer => {
  if (!Number.isInteger(number) || number < 1 || number > MOST_PORTS) throw invalid(`${number} is not a port`);
  const body = Buffer.alloc(PORT_MOD);
  body.writeUInt16BE(number, 0);
  body.set(mac, 2);
  body.writeUInt32BE(on ? NO_FLOOD : 0, 8);
  // What the mask leaves out stays as it is.
  body.writeUInt32BE(NO_FLOOD, 12);
  return encode(MESSAGE.portMod, xid, body);
};

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const decodePorts = (body: Buffer): { readonly ports: readonly PortConfig[]; readonly hasMore: boolean } => {
  const isWhole = body.length >= STATS_HEADER && (body.length - STATS_HEADER) % PORT === 0;
  if (!isWhole || body.readUInt16BE(0) !== PORT_DESCRIPTIONS) throw syntaxError('a list of ports', hexOf(body));
  const ports: PortConfig[] = [];
  for (let at = STATS_HEADER; at < body.length; at += PORT) ports.push(portAt(body, at));
  return { ports, hasMore: (body.readUInt16BE(2) & REPLY_MORE) !== 0 };
};

const portAt = (body: Buffer, at: number): PortConfig => {
  const name = body.toString('latin1', at + 8, at + 24);
  const end = name.indexOf('\0');
  return {
    number: body.readUInt16BE(at),
    mac: Buffer.from(body.subarray(at + 2, at + 8)),
    name: end < 0 ? name : name.slice(0, end),
    noFlood: (body.readUInt32BE(at + 24) & NO_FLOOD) !== 0,
  };
};

export interface ErrorMessage {
  readonly type: number;
  readonly code: number;
}

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const decodeError = (body: Buffer): ErrorMessage => {
  if (body.length < 4) throw syntaxError('an error', hexOf(body));
  return { type: body.readUInt16BE(0), code: body.readUInt16BE(2) };
};

/** `OFPET_PORT_MOD_FAILED`: there is no such port, or another one in its place. */
export const PORT_MOD_FAILED = 4;

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

const hexOf = (bytes: Buffer): string => bytes.toString('hex', 0, 32);

/** `OFPMP_PORT_DESC`. */
const PORT_DESCRIPTIONS = 13;
/** Type and flags. */
const STATS_HEADER = 4;
const REPLY_MORE = 1;
/** `struct ofp_phy_port`. */
const PORT = 48;
/** `struct ofp_port_mod` without its header. */
const PORT_MOD = 24;
/** `OFPPC_NO_FLOOD`. */
const NO_FLOOD = 1 << 4;
/** `OFPP_MAX`. */
const MOST_PORTS = 0xff00;
