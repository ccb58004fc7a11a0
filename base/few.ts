/** A set of which most have no element or one, which then costs nothing but its place, and a few have many. */
export type Few<V extends object> = V | readonly V[] | Set<V> | undefined;

export const fewOf = <V extends object>(few: Few<V>): Iterable<V> => {
  if (few === undefined) return [];
  return isMany(few) ? few : [few];
};

export const hasFew = <V extends object>(few: Few<V>, value: V): boolean => {
  if (few instanceof Set) return few.has(value);
  return Array.isArray(few) ? few.includes(value) : few === value;
};

/** What is to be kept instead; a large one is changed in place. */
export const withFew = <V extends object>(few: Few<V>, value: V): Few<V> => {
  if (hasFew(few, value)) return few;
  if (few === undefined) return value;
  if (few instanceof Set) return few.add(value);
  const values = [...fewOf(few), value];
  return values.length <= MAX_LIST ? values : new Set(values);
};

/** What is to be kept instead; a large one is changed in place. */
export const withoutFew = <V extends object>(few: Few<V>, value: V): Few<V> => {
  if (few instanceof Set) {
    few.delete(value);
    return few.size === 0 ? undefined : few;
  }
  return manyAsFew([...fewOf(few)].filter((one) => one !== value));
};

/** @param values each once */
export const manyAsFew = <V extends object>(values: readonly V[]): Few<V> => {
  if (values.length > MAX_LIST) return new Set(values);
  return values.length > 1 ? values : values[0];
};

/** Finding one in a longer list takes longer than in a set. */
const MAX_LIST = 16;

const isMany = <V extends object>(few: V | readonly V[] | Set<V>): few is readonly V[] | Set<V> =>
  few instanceof Set || Array.isArray(few);
