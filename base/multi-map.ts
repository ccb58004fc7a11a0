/**
 * A map with several values for a key. Most keys have one value, which then costs nothing but its place in the map; some
 * have a few, and a list is smaller than a set; and some have so many that finding one in a list would take long.
 */
export class MultiMap<V extends object | string> {
  readonly #values = new Map<string, V | V[] | Set<V>>();

  get size(): number {
    return this.#values.size;
  }

  /** In the order in which they came. */
  keys(): Iterable<string> {
    return this.#values.keys();
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  /** How many values a key has. */
  count(key: string): number {
    const found = this.#values.get(key);
    if (found === undefined) return 0;
    return found instanceof Set ? found.size : Array.isArray(found) ? found.length : 1;
  }

  /** The caller does not change anything while it walks through the values. */
  get(key: string): Iterable<V> {
    const found = this.#values.get(key);
    if (found === undefined) return [];
    return isMany(found) ? found : [found];
  }

  add(key: string, value: V): void {
    const found = this.#values.get(key);
    if (found === undefined) this.#values.set(key, value);
    else if (found instanceof Set) found.add(value);
    else if (!Array.isArray(found)) {
      if (found !== value) this.#values.set(key, [found, value]);
    } else if (!found.includes(value)) {
      if (found.length < MAX_LIST) found.push(value);
      else this.#values.set(key, new Set([...found, value]));
    }
  }

  clear(): void {
    this.#values.clear();
  }

  /** @returns whether it was there */
  delete(key: string, value: V): boolean {
    const found = this.#values.get(key);
    if (found === value) return this.#values.delete(key);
    if (found === undefined || !isMany(found)) return false;
    const at = found instanceof Set ? -1 : found.indexOf(value);
    if (found instanceof Set ? !found.delete(value) : at < 0) return false;
    if (!(found instanceof Set)) found.splice(at, 1);
    // Not asked of many: where the first ones of a set have gone, to find the first of the others takes long.
    if (this.count(key) > 1) return true;
    const [last] = found;
    if (last !== undefined) this.#values.set(key, last);
    return true;
  }
}

const MAX_LIST = 16;

const isMany = <V extends object | string>(found: V | V[] | Set<V>): found is V[] | Set<V> =>
  found instanceof Set || Array.isArray(found);
