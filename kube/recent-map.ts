/** A map that forgets what has not been used for longest when it is full. */
export interface RecentMap<V> {
  ensure(key: string, make: () => V): V;
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  readonly size: number;
}

export const createRecentMap = <V>(capacity: number): RecentMap<V> => {
  // A Map keeps the order of insertion: what is used is put to the end again.
  const entries = new Map<string, V>();
  const put = (key: string, value: V): V => {
    entries.delete(key);
    entries.set(key, value);
    const [oldest] = entries.keys();
    if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    return value;
  };
  return {
    ensure: (key, make) => put(key, entries.get(key) ?? make()),
    get: (key) => entries.get(key),
    set: (key, value) => void put(key, value),
    delete: (key) => void entries.delete(key),
    get size() {
      return entries.size;
    },
  };
};
