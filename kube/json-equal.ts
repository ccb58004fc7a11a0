/** Deep equality of plain data: what JSON can hold, `undefined`, bigint, and Map and Set. A key with `undefined` is absent. */
export const jsonEqual = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return arraysEqual(a, b);
  if (a instanceof Map || b instanceof Map) return mapsEqual(a, b);
  if (a instanceof Set || b instanceof Set) return setsEqual(a, b);
  return recordsEqual(a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>);
};

const arraysEqual = (a: object, b: object): boolean =>
  Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => jsonEqual(item, b[i]));

const mapsEqual = (a: object, b: object): boolean => {
  if (!(a instanceof Map && b instanceof Map) || a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !jsonEqual(value, b.get(key))) return false;
  return true;
};

const setsEqual = (a: object, b: object): boolean =>
  a instanceof Set && b instanceof Set && a.size === b.size && [...a].every((item) => b.has(item));

const recordsEqual = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean => {
  for (const key in a) if (!jsonEqual(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
};

/**
 * Equality of projections by all their fields but `ignored`: a field that is added later counts, without being added to any list.
 */
export const equalBut = <T extends object>(...ignored: readonly (keyof T & string)[]): ((a: T, b: T) => boolean) => {
  const isIgnored = new Set<string>(ignored);
  return (a, b) => {
    for (const key in a) if (!isIgnored.has(key) && !jsonEqual(a[key], b[key])) return false;
    for (const key in b) if (!isIgnored.has(key) && b[key] !== undefined && a[key] === undefined) return false;
    return true;
  };
};
