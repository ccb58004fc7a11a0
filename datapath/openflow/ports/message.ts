/**
 * The few messages of OpenFlow 1.0 that describe and change how ports are configured (OpenFlow 1.0.1, 5): only there a port
 * can be excluded from floods. Open vSwitch describes ports in OpenFlow 1.0, too, as OpenFlow 1.3 does (`OFPMP_PORT_DESC`),
 * in as many messages as it takes.
 */
import { invalid, syntaxError } from '../errors.ts';
import { encode, hexOf } from '../wire/message.ts';

export const VERSION = 1;

export const PORT_MESSAGE = {
  portMod: 15,
  statsRequest: 16,
  statsReply: 17,
  barrierRequest: 18,
  barrierReply: 19,
} as const;

export interface PortConfig {
  /** 65534 is the bridge's own. */
  readonly number: number;
  /** A change has to name it. */
  readonly mac: Buffer;
  /** Cut at 15 characters. */
  readonly name: string;
  readonly noFlood: boolean;
}

/** Which ports there are, and how they are configured. */
export const encodePortsRequest = (xid: number): Buffer => {
  const body = Buffer.alloc(STATS_HEADER);
  body.writeUInt16BE(PORT_DESCRIPTIONS, 0);
  return encode(VERSION, PORT_MESSAGE.statsRequest, xid, body);
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
  return encode(VERSION, PORT_MESSAGE.portMod, xid, body);
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

/** `OFPET_PORT_MOD_FAILED`: there is no such port, or another one in its place. */
export const PORT_MOD_FAILED = 4;

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
