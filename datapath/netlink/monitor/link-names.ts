/** Names of links by index, as far as events contained them; others are asked for. */
export class LinkNames {
  readonly #names = new Map<number, string>();
  readonly #ask: (index: number) => string | undefined;

  constructor(ask: (index: number) => string | undefined) {
    this.#ask = ask;
  }

  /** Undefined for a link that is gone. */
  get(index: number): string | undefined {
    const known = this.#names.get(index);
    if (known !== undefined) return known;
    const name = this.#ask(index);
    if (name !== undefined) this.#names.set(index, name);
    return name;
  }

  set(index: number, name: string): void {
    this.#names.set(index, name);
  }

  delete(index: number): void {
    this.#names.delete(index);
  }

  clear(): void {
    this.#names.clear();
  }
}
