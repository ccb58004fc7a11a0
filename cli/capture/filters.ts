/** Expressions of pcap-filter(7). The empty one matches everything. Pure. */

/** @param addresses of either family, or MAC addresses; none: nothing matches */
export const hosts = (addresses: readonly string[]): string =>
  addresses.length === 0 ? NOTHING : addresses.map(hostOf).join(' or ');

const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i;
const hostOf = (address: string): string => `${MAC.test(address) ? 'ether host' : 'host'} ${address}`;

/** No frame is longer. */
const NOTHING = 'greater 1000000';

export const bothOf = (one: string, other: string): string =>
  other === '' ? one : one === '' ? other : `(${one}) and (${other})`;

export const eitherOf = (one: string, other: string): string => `(${one}) or (${other})`;

/**
 * Geneve packets (RFC 8926) with one of these VNIs, bytes 4 to 6 of the header, whose inner packet matches. They are compared by
 * offset, because the word `geneve` moves all that follows it into the tunnel, a second `geneve` too.
 * @param keys undefined: any VNI
 */
export const genevePackets = (keys: readonly number[] | undefined, inner: string): string =>
  [`udp port ${PORT}`, ...(keys === undefined ? [] : [`(${vniIn(keys)})`]), 'geneve', `(${inner})`].join(' and ');

const PORT = 6081;

const vniIn = (keys: readonly number[]): string =>
  keys.length === 0
    ? NOTHING
    : keys
        .map((key) => `0x${(key * 0x100).toString(16).padStart(8, '0')}`)
        // Behind the UDP header: pcap has no offset for it in IPv6, whose header has 40 bytes.
        .flatMap((value) => [`udp[12:4] & ${MASK} = ${value}`, `ip6[52:4] & ${MASK} = ${value}`])
        .join(' or ');

const MASK = '0xffffff00';
