/** One object for all that are equal, for as long as somebody holds it. It costs nothing but memory to be without: what it cannot find is kept as it is. */
export class WeakPool<T extends object> {
  readonly #equal: (a: T, b: T) => boolean;
  readonly #values = new Map<number, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<number>((hash) => {
    // Another one may have its place by now.
    if (this.#values.get(hash)?.deref() === undefined) this.#values.delete(hash);
  });

  constructor(equal: (a: T, b: T) => boolean) {
    this.#equal = equal;
  }

  get size(): number {
    return this.#values.size;
  }

  /** @param text the same for values that are equal */
  one(value: T, text: string): T {
    const hash = fnv1a32(text);
    const known = this.#values.get(hash)?.deref();
    // Whoever makes two texts collide has two objects, as without a pool.
    if (known !== undefined) return this.#equal(known, value) ? known : value;
    this.#values.set(hash, new WeakRef(value));
    this.#gone.register(value, hash);
    return value;
  }
}

/** http://www.isthe.com/chongo/tech/comp/fnv/ */
const fnv1a32 = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
};
