/** One string for texts that are equal. Whatever comes in, it holds no more than so many: then it begins anew. */
export class TextPool {
  readonly #capacity: number;
  readonly #texts = new Map<string, string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  one(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size >= this.#capacity) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
