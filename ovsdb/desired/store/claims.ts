/**
 * Who wants the same thing. Of several owners of one row the first in the order of owners wins: the order is total, does
 * not depend on who came first, and when the winner leaves the next one is there already.
 */
import type { OwnerOrder } from '../types.ts';

export interface Claim<T> {
  readonly owner: string;
  readonly value: T;
}

/** One claim alone is the common case and needs no list. */
export type Claims<T> = Claim<T> | readonly Claim<T>[];

export const claimList = <T>(claims: Claims<T> | undefined): readonly Claim<T>[] =>
  claims === undefined ? [] : isList(claims) ? claims : [claims];

/** The winner comes first. */
export const winnerOf = <T>(claims: Claims<T> | undefined): Claim<T> | undefined =>
  claims === undefined || !isList(claims) ? claims : claims[0];

/** The claims with that of `owner` replaced by `value`, or removed when it is undefined. */
export const withClaim = <T>(
  claims: Claims<T> | undefined,
  owner: string,
  value: T | undefined,
  order: OwnerOrder,
): Claims<T> | undefined => {
  const others = claimList(claims).filter((claim) => claim.owner !== owner);
  if (value !== undefined) others.push({ owner, value });
  if (others.length < 2) return others[0];
  return others.sort((a, b) => order(a.owner, b.owner));
};

const isList = <T>(claims: Claims<T>): claims is readonly Claim<T>[] => Array.isArray(claims);
