/** A map of one entry, in a fifth of the memory of a `Map`: for what there are many of. Its fields are not private: `jsonEqual` compares them. */
export class SingleMap<K, V> implements ReadonlyMap<K, V> {
  readonly key: K;
  readonly value: V;

  constructor(key: K, value: V) {
    this.key = key;
    this.value = value;
  }

  get size(): number {
    return 1;
  }

  get(key: K): V | undefined {
    return key === this.key ? this.value : undefined;
  }

  has(key: K): boolean {
    return key === this.key;
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    callback(this.value, this.key, this);
  }

  entries(): MapIterator<[K, V]> {
    return [[this.key, this.value] as [K, V]].values();
  }

  keys(): MapIterator<K> {
    return [this.key].values();
  }

  values(): MapIterator<V> {
    return [this.value].values();
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}
