/** Compares what was applied with what an API server has of it, which has defaults besides. Pure. */
import { isDeepStrictEqual } from 'node:util';

/**
 * Where the first field is that the server does not have as it was applied; undefined when there is none.
 * Schemas are compared as they are: a server adds nothing to them.
 */
export const differenceOf = (applied: unknown, there: unknown, path: string): string | undefined => {
  if (path.endsWith('.openAPIV3Schema')) return isDeepStrictEqual(applied, there) ? undefined : path;
  if (Array.isArray(applied)) {
    if (!Array.isArray(there) || there.length !== applied.length) return path;
    return firstOf(applied.map((one, index) => differenceOf(one, there[index], `${path}[${index}]`)));
  }
  if (!isObject(applied)) return isDeepStrictEqual(applied, there) ? undefined : path;
  if (!isObject(there)) return path;
  return firstOf(Object.entries(applied).map(([key, value]) => differenceOf(value, there[key], `${path}.${key}`)));
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const firstOf = (found: readonly (string | undefined)[]): string | undefined => found.find((one) => one !== undefined);
