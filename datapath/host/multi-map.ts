/** Several keys under one name. */
export class MultiMap {
  readonly #sets = new Map<string, Set<string>>();

  get(name: string): ReadonlySet<string> {
    return this.#sets.get(name) ?? NONE;
  }

  add(name: string, key: string): void {
    const set = this.#sets.get(name);
    if (set === undefined) this.#sets.set(name, new Set([key]));
    else set.add(key);
  }

  delete(name: string, key: string): void {
    const set = this.#sets.get(name);
    set?.delete(key);
    if (set?.size === 0) this.#sets.delete(name);
  }

  clear(): void {
    this.#sets.clear();
  }
}

const NONE: ReadonlySet<string> = new Set();
