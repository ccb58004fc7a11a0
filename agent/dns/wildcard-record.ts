/**
 * What pods have been answered about the names of a wildcard, and until when it counts. Pure: times are milliseconds since the epoch, as
 * the plugin writes them.
 *
 * Nobody asks again by himself about a name that a pod has asked for once. So an address counts for its time to live and, as what leaves the
 * answers of other names, for `HELD_MS` more. The plugin renews what pods ask for.
 */
import { parseDnsNameResolver, type ResolvedAddress } from '../../api/dns-name-resolver.ts';
import type { DomainName } from '../../net/domain-name.ts';
import { FAMILIES, type Ip, ipFamily } from '../../net/ip.ts';
import { HELD_MS, MAX_ADDRESSES, MAX_HELD_MS } from './record.ts';

export interface WildcardRecord {
  readonly wildcard: DomainName;
  /** Those that end last come first; no more of a family than count. */
  readonly addresses: readonly EndingAddress[];
  /** Names with an answer. None: nobody has written the status yet. */
  readonly names: number;
  /** The last. Absent: there has been none. */
  readonly answered?: number | undefined;
  /** What of the status does not count. */
  readonly notes: readonly string[];
}

export interface EndingAddress {
  readonly ip: Ip;
  readonly ends: number;
}

/** @throws ApiError @param object of the API, whoever has written it */
export const readWildcard = (object: unknown): WildcardRecord => {
  const { wildcard, addresses, names, findings } = parseDnsNameResolver(object);
  const ends = new Map<Ip, number>();
  for (const one of addresses) ends.set(one.ip, Math.max(endOf(one), ends.get(one.ip) ?? 0));
  // Of those that end together it is the address that decides, and not who has written first: agents should agree.
  const all = [...ends].sort(([a, endA], [b, endB]) => endB - endA || (a < b ? -1 : 1));
  const counted = FAMILIES.map((family) => all.filter(([ip]) => ipFamily(ip) === family));
  const answered = addresses.reduce((last, one) => Math.max(last, one.answered), 0);
  return {
    ...{ wildcard, names, ...(names > 0 && { answered }) },
    addresses: counted.flatMap((own) => own.slice(0, MAX_ADDRESSES)).map(([ip, at]) => ({ ip, ends: at })),
    notes: [
      ...findings,
      ...FAMILIES.flatMap((family, index) => {
        const excess = (counted[index]?.length ?? 0) - MAX_ADDRESSES;
        return excess > 0
          ? [`${excess} IPv${family} addresses more than the ${MAX_ADDRESSES} that count are left out`]
          : [];
      }),
    ],
  };
};

const endOf = ({ answered, ttlSeconds }: ResolvedAddress): number =>
  answered + Math.min(ttlSeconds * 1000, MAX_HELD_MS) + HELD_MS;

/** So long at most after it has been read, whatever time the status says: the clock that wrote it may be ahead. */
export const MAX_LIFE_MS = MAX_HELD_MS + HELD_MS;
