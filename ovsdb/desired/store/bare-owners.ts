/** Owners that want members alone, and of which there are so many that nothing more is kept of each than how many it has. */
export class BareOwners {
  readonly #prefix: string;
  readonly #counts = new Map<string, number>();

  /** @param prefix of the names of all of them, and of no other owner */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** Whether it has members now. */
  has(owner: string): boolean {
    return this.isBare(owner) && this.#counts.has(owner.slice(this.#prefix.length));
  }

  isBare(owner: string): boolean {
    return owner.startsWith(this.#prefix);
  }

  /** @param subject what is behind the prefix */
  ownerOf(subject: string): string {
    return this.#prefix + subject;
  }

  /** Those that have members. */
  *owners(): Iterable<string> {
    for (const subject of this.#counts.keys()) yield this.ownerOf(subject);
  }

  /** @param by how many more members it has */
  count(subject: string, by: number): void {
    const now = (this.#counts.get(subject) ?? 0) + by;
    if (now === 0) this.#counts.delete(subject);
    else this.#counts.set(subject, now);
  }
}
