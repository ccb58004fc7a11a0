/** What is told of a name. Pure. */
import type { Family, Ip } from '../../net/ip.ts';
import { type DnsRecord, MAX_ADDRESSES } from './record.ts';
import type { DomainState } from './types.ts';

interface Known {
  readonly halves: readonly { readonly family: Family; readonly record: DnsRecord }[];
  readonly addresses: readonly Ip[];
  /** Milliseconds since the epoch. */
  readonly failedSince: number | undefined;
  /** Addresses of it that do not count, each with the reason. */
  readonly refusals: readonly string[];
  /** Milliseconds since the last answer. */
  readonly age: (record: DnsRecord) => number;
}

export const stateOf = ({ halves, addresses, failedSince, refusals, age }: Known): DomainState => {
  const notes = [
    ...halves.flatMap(({ family, record: { excess } }) =>
      excess > 0 ? [`${excess} IPv${family} addresses more than the ${MAX_ADDRESSES} that count are left out`] : [],
    ),
    ...(refusals.length > 0 ? [`left out: ${listText(refusals)}`] : []),
  ];
  const answered = halves.filter(({ record }) => record.isAnswered);
  const answeredAgo = answered.length === 0 ? undefined : Math.min(...answered.map(({ record }) => age(record)));
  const common = { addresses, notes, ...(answeredAgo !== undefined && { answeredAgo }) };
  if (failedSince !== undefined) {
    const whys = halves.flatMap(({ family, record: { failures, why } }) =>
      failures > 0 ? [`${typeOf(family)}: ${why}`] : [],
    );
    return { kind: 'failed', ...common, problem: whys.join('; '), since: failedSince };
  }
  return { kind: answered.length === halves.length ? 'resolved' : 'unresolved', ...common };
};

const typeOf = (family: Family): string => (family === 4 ? 'A' : 'AAAA');

/** The first few. */
export const listText = (texts: readonly string[]): string =>
  texts.length <= MAX_SHOWN
    ? texts.join(', ')
    : `${texts.slice(0, MAX_SHOWN).join(', ')} and ${texts.length - MAX_SHOWN} more`;

const MAX_SHOWN = 3;
