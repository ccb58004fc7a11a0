/** What no owner desires any more and its bridge has not confirmed yet: only so is it known that it has to be tried again. */
export class Removals {
  /** By key: the bridge. */
  readonly #bridges = new Map<string, string>();

  add(key: string, bridge: string): void {
    this.#bridges.set(key, bridge);
  }

  /** It is desired again. */
  delete(key: string): void {
    this.#bridges.delete(key);
  }

  bridgeOf(key: string): string | undefined {
    return this.#bridges.get(key);
  }

  /** Those of a bridge, among the keys that were asked for. */
  of(bridge: string, keys: ReadonlySet<string> | 'all'): string[] {
    const asked = [...(keys === 'all' ? this.#bridges.keys() : keys)];
    return asked.filter((key) => this.#bridges.get(key) === bridge);
  }

  /** The bridge has answered. */
  confirm(bridge: string, keys: ReadonlySet<string> | 'all'): void {
    for (const key of this.of(bridge, keys)) this.#bridges.delete(key);
  }
}
