/** Bytes from outside: whatever they are, they are read or refused with an error of ours, and that soon. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { decodeAddress, putAddress } from '../address/codec.ts';
import { NetlinkError } from '../errors.ts';
import { addMaster, addVeth, decodeLink } from '../link/codec.ts';
import { decodeEvent } from '../monitor/decode.ts';
import { LinkNames } from '../monitor/link-names.ts';
import { decodeNeighbour, putNeighbour } from '../neighbour/codec.ts';
import { decodeRoute, putRoute } from '../route/codec.ts';
import { route } from '../route/types.ts';
import { addRule, decodeRule } from '../rule/codec.ts';
import { decodeSettings } from '../setting/codec.ts';
import { formatRequest, parseDatagram, parseMessageBytes } from './message.ts';
import { decodeNetnsid } from './netnsid.ts';
import type { NamedRequest } from './socket.ts';

const end = { name: 'a', mac: parseMac('0a:00:00:00:00:01'), mtu: 1400, group: 7 };
const requests: readonly NamedRequest[] = [
  addVeth({ kind: 'veth', ...end, peer: { ...end, name: 'b', netns: undefined } }, undefined),
  addMaster({ kind: 'vrf', name: 'v', table: 100_003 }),
  putAddress({ link: 'a', address: parseInterfaceAddress('10.0.0.5/24') }, 3),
  putAddress({ link: 'a', address: parseInterfaceAddress('fd00::5/64'), deprecated: true }, 3),
  putRoute(route({ dst: parseCidr('10.5.0.0/16'), dev: 'a', via: parseIp('fe80::1'), mtu: 1300, table: 100_003 }), 3),
  addRule({ family: 6, priority: 2000, fwmark: 1, to: parseCidr('fd69::c/128'), iif: 'a', table: 7, protocol: 85 }),
  putNeighbour({ link: 'a', address: parseIp('fd69::4'), mac: end.mac }, 3),
];
const decoders = [decodeLink, decodeAddress, decodeRoute, decodeRule, decodeNeighbour, decodeNetnsid, decodeSettings];

/** Null when it was read. */
const outcome = (read: () => unknown): string | null => {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof NetlinkError) return error.code;
    throw error;
  }
};

const readAll = (bytes: Buffer): void => {
  const names = new LinkNames(() => undefined);
  const event = () => parseMessageBytes(bytes).map((message) => decodeEvent(message, names));
  const reads = [event, () => parseDatagram(bytes), ...decoders.map((decode) => () => decode(bytes))];
  for (const read of reads) expect([null, 'ERR_NETLINK_MALFORMED']).toContain(outcome(read));
};

describe('bytes from outside', () => {
  it('at random are read or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => readAll(Buffer.from(bytes))),
      { numRuns: 3000 },
    );
  });

  it('that were messages once are read or refused, wherever they are cut off or changed', () => {
    const change = fc.tuple(fc.nat(300), fc.nat(255));
    fc.assert(
      fc.property(
        fc.constantFrom(...requests),
        fc.array(change, { maxLength: 4 }),
        fc.nat(300),
        (request, changes, cut) => {
          const bytes = Buffer.from(Buffer.concat(formatRequest(request, 1)));
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          readAll(bytes.subarray(0, Math.max(0, bytes.length - cut)));
          readAll(Buffer.from(request.payload).subarray(0, cut));
        },
      ),
      { numRuns: 3000 },
    );
  });
});
