/** Maps of sets that hold no empty set. */
export type StringSets = Map<string, Set<string>>;

export const addTo = (sets: StringSets, key: string, item: string): void => {
  const items = sets.get(key) ?? new Set();
  sets.set(key, items.add(item));
};

/** Absent is success. */
export const removeFrom = (sets: StringSets, key: string, item: string): void => {
  const items = sets.get(key);
  items?.delete(item);
  if (items?.size === 0) sets.delete(key);
};
