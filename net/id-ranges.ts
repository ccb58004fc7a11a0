/** Sets of small integers as ranges: `0-57,59`. A thousand ids in a row are a dozen characters. */
import { NetError } from './errors.ts';

/**
 * Where membership begins and ends, ascending: `[0, 58, 59, 60]` is 0 to 57, and 59. Two neighbouring ranges are one, so that
 * equal sets have equal boundaries.
 */
export type IdRanges = readonly number[];

export const NO_IDS: IdRanges = [];

/** @param ids in any order; what is there twice counts once */
export const rangesOf = (ids: Iterable<number>): IdRanges => {
  const bounds: number[] = [];
  for (const id of Uint32Array.from(ids).sort()) {
    const end = bounds.at(-1);
    if (end === id + 1) continue;
    if (end === id) bounds[bounds.length - 1] = id + 1;
    else bounds.push(id, id + 1);
  }
  return bounds;
};

/** `0-57,59`; empty: an empty text. */
export const formatRanges = (bounds: IdRanges): string => {
  const parts: string[] = [];
  for (const [first, last] of rangesIn(bounds)) parts.push(first === last ? `${first}` : `${first}-${last}`);
  return parts.join(',');
};

/** @throws NetError ERR_NET_ID when the ranges are not ascending and apart, or an id is above `max` */
export const parseRanges = (text: string, max: number): IdRanges => {
  const bounds: number[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const match = /^(0|[1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?$/.exec(part);
    const first = Number(match?.[1] ?? Number.NaN);
    const last = match?.[2] === undefined ? first : Number(match[2]);
    const isApart = first > (bounds.at(-1) ?? -1);
    if (match === null || !isApart || (match[2] !== undefined && last <= first) || last > max) {
      throw new NetError('ERR_NET_ID', `"${part}" is no ascending range of ids up to ${max}`, text);
    }
    bounds.push(first, last + 1);
  }
  return bounds;
};

export const hasId = (bounds: IdRanges, id: number): boolean => {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] ?? 0) <= id) low = middle + 1;
    else high = middle;
  }
  // Behind a beginning and before its end.
  return low % 2 === 1;
};

/** What is in one of the two and not in the other: a boundary that both have is none of the difference. */
export const differingIds = (a: IdRanges, b: IdRanges): IdRanges => {
  const merged = [...a, ...b].sort((x, y) => x - y);
  const bounds: number[] = [];
  for (const bound of merged) {
    if (bounds.at(-1) === bound) bounds.pop();
    else bounds.push(bound);
  }
  return bounds;
};

export function* idsIn(bounds: IdRanges): Generator<number> {
  for (const [first, last] of rangesIn(bounds)) for (let id = first; id <= last; id += 1) yield id;
}

function* rangesIn(bounds: IdRanges): Generator<readonly [number, number]> {
  for (let at = 0; at + 1 < bounds.length; at += 2) yield [bounds[at] ?? 0, (bounds[at + 1] ?? 0) - 1];
}
