/** The listeners of something. */
export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => void>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** The result takes the listener away again. */
  add(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** A listener that throws does not keep others from being notified: its error becomes an uncaught exception. */
  emit(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
