/** JSON merge patch, RFC 7386. */
import { isRecord, type JsonRecord } from '../is-record.ts';

/** A new value; `target` is not changed, and parts that the patch does not name are shared with it. */
export const applyMergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
};

/**
 * One patch that does what `first` and then `second` do. Undefined when there is none: a patch can't say that an object
 * takes the place of something that `first` removes or overwrites.
 */
export const composeMergePatches = (first: JsonRecord, second: JsonRecord): JsonRecord | undefined => {
  const result: Record<string, unknown> = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const before = first[key];
    if (!isRecord(value) || !(key in first)) result[key] = value;
    else if (!isRecord(before)) return undefined;
    else {
      const composed = composeMergePatches(before, value);
      if (composed === undefined) return undefined;
      result[key] = composed;
    }
  }
  return result;
};
