/** The headers of a captured frame, from the outside in. */
import { type Ip, parseIp } from '../../../../net/ip.ts';
import { GENEVE_PORT } from './tunnels.ts';

/** One Ethernet frame: that on the wire, or one inside a tunnel's packet. */
export interface Layer {
  readonly to: string;
  readonly from: string;
  readonly type: number;
  readonly ip?: IpLayer;
}

export interface IpLayer {
  readonly src: Ip;
  readonly dst: Ip;
  readonly protocol: number;
  /** Of TCP, UDP and SCTP. */
  readonly port: number | undefined;
}

/** More than one where a frame is inside Geneve (RFC 8926). What is cut off or broken is left out. */
export const dissect = (bytes: Buffer): readonly Layer[] => {
  if (bytes.length < 14) return [];
  const [to, from] = [0, 6].map((at) => bytes.toString('hex', at, at + 6).replace(/(..)(?=.)/g, '$1:'));
  const isTagged = bytes.readUInt16BE(12) === 0x8100 && bytes.length >= 18;
  const start = isTagged ? 18 : 14;
  const type = bytes.readUInt16BE(start - 2);
  const found = type === 0x0800 ? ipv4(bytes, start) : type === 0x86dd ? ipv6(bytes, start) : undefined;
  const layer: Layer = { to: to ?? '', from: from ?? '', type, ...(found !== undefined && { ip: found.ip }) };
  const inner = found?.ip.port === GENEVE_PORT && found.ip.protocol === 17 ? geneve(bytes, found.body) : [];
  return [layer, ...inner];
};

interface FoundIp {
  readonly ip: IpLayer;
  readonly body: number;
}

const ipv4 = (bytes: Buffer, at: number): FoundIp | undefined => {
  if (bytes.length < at + 20) return undefined;
  const protocol = bytes[at + 9] ?? 0;
  const body = at + ((bytes[at] ?? 0) & 0xf) * 4;
  const isFirst = (bytes.readUInt16BE(at + 6) & 0x1fff) === 0;
  const address = (from: number): Ip => parseIp([...bytes.subarray(from, from + 4)].join('.'));
  const port = isFirst ? portOf(bytes, body, protocol) : undefined;
  return { ip: { src: address(at + 12), dst: address(at + 16), protocol, port }, body };
};

const ipv6 = (bytes: Buffer, at: number): FoundIp | undefined => {
  if (bytes.length < at + 40) return undefined;
  const address = (from: number): Ip => parseIp(bytes.toString('hex', from, from + 16).replace(/(....)(?=.)/g, '$1:'));
  const { protocol, body, isFirst } = lastHeader(bytes, at + 40, bytes[at + 6] ?? 0);
  const port = isFirst ? portOf(bytes, body, protocol) : undefined;
  return { ip: { src: address(at + 8), dst: address(at + 24), protocol, port }, body };
};

/** Past hop-by-hop options and a fragment header: RFC 8200 §4. */
const lastHeader = (bytes: Buffer, start: number, first: number) => {
  let [protocol, body, isFirst] = [first, start, true];
  while ((protocol === 0 || protocol === 44) && bytes.length >= body + 8) {
    if (protocol === 44) isFirst = bytes.readUInt16BE(body + 2) >> 3 === 0;
    const length = protocol === 44 ? 8 : 8 * ((bytes[body + 1] ?? 0) + 1);
    protocol = bytes[body] ?? 59;
    body += length;
  }
  return { protocol, body, isFirst };
};

const portOf = (bytes: Buffer, body: number, protocol: number): number | undefined =>
  [6, 17, 132].includes(protocol) && bytes.length >= body + 4 ? bytes.readUInt16BE(body + 2) : undefined;

const geneve = (bytes: Buffer, udp: number): readonly Layer[] => {
  const options = ((bytes[udp + 8] ?? 0) & 0x3f) * 4;
  return dissect(bytes.subarray(udp + 16 + options));
};
