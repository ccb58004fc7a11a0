/**
 * Questions and answers as messages (RFC 1035, section 4). What arrives is a stranger's: an answer counts only with the id and the question
 * that were sent. The case of the question's letters is random and comes back as it was sent, which whoever does not see the question has
 * to guess too (draft-vixie-dnsext-dns0x20).
 */
import { randomInt } from 'node:crypto';
import { type Answer, type DecodedPacket, decode, encode, RECURSION_DESIRED } from 'dns-packet';
import type { DomainName } from '../../net/domain-name.ts';
import { type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';

export interface DnsQuestion {
  readonly id: number;
  /** With letters of random case, without the last dot. */
  readonly name: string;
  readonly family: Family;
}

export type DnsAnswer =
  /** Empty: the name has no addresses of the family. `ttl` in seconds: the shortest on the way to them. */
  | { readonly kind: 'addresses'; readonly addresses: readonly Ip[]; readonly ttl: number }
  /** NXDOMAIN. */
  | { readonly kind: 'nonexistent'; readonly ttl: number };

export type DnsReply =
  | DnsAnswer
  | { readonly kind: 'truncated' }
  /** The server answered that it cannot. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It is the answer to something else, or none. */
  | { readonly kind: 'foreign' }
  /** It is the answer, but for the case of letters: of a server that does not keep it, or of nobody that has seen the question. */
  | { readonly kind: 'recased' };

/** The types of the library do not have what `decode` adds. */
type Decoded = DecodedPacket & { readonly rcode: string };

/** @param random an integer from 0 up to, but not, the number */
export const questionFor = (
  name: DomainName,
  family: Family,
  random: (below: number) => number = (below) => randomInt(below),
): DnsQuestion => ({
  id: random(0x1_0000),
  name: name.slice(0, -1).replace(/[a-z]/g, (letter) => (random(2) === 0 ? letter : letter.toUpperCase())),
  family,
});

export const encodeQuestion = ({ id, name, family }: DnsQuestion): Uint8Array =>
  encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ type: typeOf(family), name }] });

/** It never throws. @param ignoreCase nobody else can have answered */
export const readReply = (bytes: Uint8Array, question: DnsQuestion, ignoreCase = false): DnsReply => {
  let packet: Decoded;
  try {
    packet = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as Decoded;
  } catch {
    return { kind: 'foreign' };
  }
  const asked = packet.questions?.[0];
  const isOurs =
    packet.type === 'response' &&
    packet.id === question.id &&
    packet.questions?.length === 1 &&
    asked?.type === typeOf(question.family) &&
    asked.class === 'IN' &&
    asked.name.toLowerCase() === question.name.toLowerCase();
  if (!isOurs) return { kind: 'foreign' };
  if (!ignoreCase && asked.name !== question.name) return { kind: 'recased' };
  if (packet.flag_tc) return { kind: 'truncated' };
  switch (packet.rcode) {
    case 'NOERROR':
      return addressesIn(packet, question);
    case 'NXDOMAIN':
      return { kind: 'nonexistent', ttl: negativeTtl(packet) };
    default:
      return { kind: 'refused', why: packet.rcode };
  }
};

/** Only what the question's name leads to: a server may add what it likes. */
const addressesIn = ({ answers = [], authorities }: Decoded, { name, family }: DnsQuestion): DnsAnswer => {
  let owner = name.toLowerCase();
  let ttl = MAX_TTL;
  // As many as a chain can have at most: each alias is followed once.
  for (let length = 0; length <= MAX_CHAIN; length++) {
    const own = answers.filter((answer) => nameOf(answer) === owner);
    const found = own.flatMap((answer) => addressIn(answer, family));
    const [alias] = own.flatMap((answer) => (answer.type === 'CNAME' ? [answer] : []));
    if (found.length > 0) {
      const ttls = own.filter(({ type }) => type === typeOf(family)).map(ttlOf);
      return { kind: 'addresses', addresses: [...new Set(found)], ttl: ttls.reduce(least, ttl) };
    }
    if (alias === undefined) break;
    ttl = Math.min(ttl, ttlOf(alias));
    owner = lower(alias.data);
  }
  return { kind: 'addresses', addresses: [], ttl: Math.min(ttl, negativeTtl({ authorities })) };
};

const least = (a: number, b: number): number => Math.min(a, b);

const addressIn = (answer: Answer, family: Family): Ip[] => {
  if (answer.type !== typeOf(family) || typeof answer.data !== 'string') return [];
  try {
    const ip = parseIp(answer.data);
    return ipFamily(ip) === family ? [ip] : [];
  } catch {
    // IPv4-mapped: no packet has it.
    return [];
  }
};

/** RFC 2308, section 5: of the zone's SOA the smaller of its own TTL and its minimum. */
const negativeTtl = ({ authorities = [] }: Pick<Decoded, 'authorities'>): number => {
  const [soa] = authorities.flatMap((authority) => (authority.type === 'SOA' ? [authority] : []));
  return soa === undefined ? DEFAULT_NEGATIVE_TTL : Math.min(ttlOf(soa), soa.data.minimum ?? DEFAULT_NEGATIVE_TTL);
};

const ttlOf = (answer: Answer): number => {
  const ttl = 'ttl' in answer ? (answer.ttl ?? 0) : 0;
  // RFC 2181, section 8: with the highest bit it is zero.
  return ttl > MAX_TTL ? 0 : ttl;
};

const nameOf = ({ name }: Answer): string => lower(name);
const lower = (name: string): string => name.toLowerCase();
const typeOf = (family: Family): 'A' | 'AAAA' => (family === 4 ? 'A' : 'AAAA');

const MAX_TTL = 0x7fff_ffff;
const MAX_CHAIN = 16;
/** In seconds, of a server that does not say how long there is nothing. */
const DEFAULT_NEGATIVE_TTL = 60;
