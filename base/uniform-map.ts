/** A map that has one value for all of its keys, which many such maps share: for what there are many of. Its fields are not private: comparisons look at them. */
export class UniformMap<K, V> implements ReadonlyMap<K, V> {
  readonly list: readonly K[];
  readonly value: V;

  /** @param list of keys, each once */
  constructor(list: readonly K[], value: V) {
    this.list = list;
    this.value = value;
  }

  get size(): number {
    return this.list.length;
  }

  get(key: K): V | undefined {
    return this.has(key) ? this.value : undefined;
  }

  has(key: K): boolean {
    return this.list.includes(key);
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const key of this.list) callback(this.value, key, this);
  }

  entries(): MapIterator<[K, V]> {
    return this.list.map((key): [K, V] => [key, this.value]).values();
  }

  keys(): MapIterator<K> {
    return this.list.values();
  }

  values(): MapIterator<V> {
    return this.list.map(() => this.value).values();
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}
