import { DenseMap } from '../../../base/dense-map.ts';

/** Owners that want members alone, and of which there are so many that nothing more is kept of each than how many it has. */
export class BareOwners {
  readonly #prefix: string;
  /** Those with members. */
  readonly #owners = new DenseMap<string>((subject) => subject);
  /** Of those with more than one, which few have. */
  readonly #counts = new Map<string, number>();

  /** @param prefix of the names of all of them, and of no other owner */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get size(): number {
    return this.#owners.size;
  }

  /** Whether it has members now. */
  has(owner: string): boolean {
    return this.isBare(owner) && this.#owners.has(owner.slice(this.#prefix.length));
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
    for (const subject of this.#owners.keys()) yield this.ownerOf(subject);
  }

  /** @param by how many more members it has */
  count(subject: string, by: number): void {
    const before = this.#counts.get(subject) ?? (this.#owners.has(subject) ? 1 : 0);
    const now = before + by;
    if (now === before) return;
    if (now > 1) this.#counts.set(subject, now);
    else this.#counts.delete(subject);
    if (now === 0) this.#owners.delete(subject);
    else if (before === 0) this.#owners.set(subject, subject);
  }
}
