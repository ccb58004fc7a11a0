/**
 * What is known of a name's addresses of one family, and until when. Pure: times are milliseconds of a clock that never goes back.
 *
 * Pods ask at other times than the agent, and servers answer with some of many addresses. So an address that is in no answer any more stays
 * for as long as somebody may have it from an earlier one, and for `HELD_MS` at least: connections end before that
 * mostly. It is not kept longer, as it may be another's by then.
 */
import type { Ip } from '../../net/ip.ts';
import type { DnsResult } from './client.ts';

export interface DnsRecord {
  /** Those of the last answer, or of an agent before this one. */
  readonly current: readonly Ip[];
  /** In milliseconds: the time to live of the last answer, as far as it counts. */
  readonly ttlMs: number;
  /** Those of answers before it, and when they end. */
  readonly held: ReadonlyMap<Ip, number>;
  /** When the last answer came; where there has been none, when `current` was found. */
  readonly answered: number;
  readonly isAnswered: boolean;
  /** In a row. */
  readonly failures: number;
  readonly why?: string | undefined;
  /** Of the last answer: those that are more than count. */
  readonly excess: number;
  /** Of the last answer, unless it was the first: those that were not known before it. */
  readonly added: number;
}

/** @param kept by an agent before this one */
export const newRecord = (kept: readonly Ip[], now: number): DnsRecord => ({
  ...{ current: kept.slice(0, MAX_ADDRESSES), ttlMs: 0, held: new Map(), answered: now },
  ...{ isAnswered: false, failures: 0, excess: 0, added: 0 },
});

export const withResult = (record: DnsRecord, result: DnsResult, now: number): DnsRecord => {
  switch (result.kind) {
    case 'failed':
      return { ...withoutEnded(record, now), failures: record.failures + 1, why: result.why };
    // Its owner says that it is not there.
    case 'nonexistent':
      return { ...answer([], now, 0), ttlMs: result.ttl * 1000 };
    case 'addresses': {
      const current = result.addresses.slice(0, MAX_ADDRESSES);
      const ttlMs = result.ttl * 1000;
      const before = withoutEnded(record, now);
      const held = heldBeside(before, current, now);
      const known = new Set(addressesOf(before));
      const added = record.isAnswered ? current.filter((ip) => !known.has(ip)).length : 0;
      return { ...answer(current, now, result.addresses.length - current.length), held, ttlMs, added };
    }
  }
};

/** Once what ends by then has ended. */
export const withoutEnded = (record: DnsRecord, now: number): DnsRecord => {
  const held = new Map([...record.held].filter(([, until]) => until > now));
  const isStale = now >= staleAt(record);
  return { ...record, held, ...(isStale && { current: [] }) };
};

/** The first time at which `withoutEnded` changes something. */
export const nextEnd = (record: DnsRecord): number => {
  const stale = record.current.length > 0 ? staleAt(record) : Number.POSITIVE_INFINITY;
  return [...record.held.values()].reduce((first, until) => Math.min(first, until), stale);
};

/** When `current` ends, unless there is an answer before. */
const staleAt = ({ failures, isAnswered, answered }: DnsRecord): number => {
  if (!isAnswered) return answered + KEPT_MS;
  return failures > 0 ? answered + STALE_MS : Number.POSITIVE_INFINITY;
};

/** All that count, sorted. */
export const addressesOf = ({ current, held }: DnsRecord): readonly Ip[] =>
  [...new Set([...current, ...held.keys()])].sort();

const answer = (current: readonly Ip[], now: number, excess: number): DnsRecord => ({
  ...{ current, ttlMs: 0, held: new Map(), answered: now, isAnswered: true, failures: 0, excess, added: 0 },
});

/** Those that are left out now; of too many, those that end last. */
const heldBeside = (before: DnsRecord, current: readonly Ip[], now: number): ReadonlyMap<Ip, number> => {
  const until = Math.max(now + HELD_MS, before.answered + Math.min(before.ttlMs, MAX_HELD_MS));
  const all = new Map([...before.held, ...before.current.map((ip) => [ip, until] as const)]);
  for (const ip of current) all.delete(ip);
  const room = MAX_ADDRESSES - current.length;
  if (all.size <= room) return all;
  return new Map([...all].sort(([, a], [, b]) => b - a).slice(0, room));
};

/** Of one name and family: each is an address in sets of OVN. */
export const MAX_ADDRESSES = 256;
export const HELD_MS = 5 * 60_000;
/** As long at most does a time to live count for who may have an earlier answer. */
export const MAX_HELD_MS = 60 * 60_000;
/** As long are addresses kept without an answer. */
export const STALE_MS = 60 * 60_000;
/** The same for those of an agent before this one: how old they are nobody knows, and each start gives them this time anew. */
export const KEPT_MS = 10 * 60_000;
