/** JSON with the keys of every object sorted and `undefined` left out: the same value always gives the same text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value)) ?? 'null';

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.sort(byKey).map(([key, item]) => [key, sorted(item)]));
};

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
