import { isDeepStrictEqual } from 'node:util';
import type { FactCell, FactReader, FactStore } from '../../model/fact-store.ts';
import type { TrackedView } from '../../model/tracked-view.ts';

/** Why a value could not be read again. */
export interface ReadFailure {
  readonly error: unknown;
}

/**
 * Something that follows from facts, and is read again when one of them changes. A read that fails keeps the value of before, and what it had
 * looked at by then is still watched: the next change of it is another try.
 */
export class Watched<Value> implements FactReader {
  readonly #facts: FactStore;
  readonly #view: TrackedView;
  readonly #read: (view: TrackedView) => Value;
  readonly #onChange: (failure?: ReadFailure) => void;
  #cells: readonly FactCell[] = [];
  #value: Value;
  #failure: ReadFailure | undefined;
  #isStopped = false;

  /**
   * @param onChange not for a value that equals the one before, but for each read that fails, and the first one after it
   * @throws what the first read throws; nothing is watched then
   */
  constructor(
    facts: FactStore,
    view: TrackedView,
    read: (view: TrackedView) => Value,
    onChange: (failure?: ReadFailure) => void,
  ) {
    this.#facts = facts;
    this.#view = view;
    this.#read = read;
    this.#onChange = onChange;
    try {
      this.#value = this.#evaluate();
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  get value(): Value {
    return this.#value;
  }

  /** Its value may be outdated. */
  get failure(): ReadFailure | undefined {
    return this.#failure;
  }

  /** It throws only what `onChange` throws: others read the same fact. */
  stale(): void {
    // Others read the same fact, and one of them may have stopped it since the fact changed.
    if (this.#isStopped) return;
    this.#unsubscribe();
    const before = this.#value;
    const hadFailed = this.#failure !== undefined;
    this.#failure = undefined;
    try {
      this.#value = this.#evaluate();
    } catch (error) {
      this.#failure = { error };
    }
    if (this.#failure !== undefined || hadFailed || !isDeepStrictEqual(before, this.#value))
      this.#onChange(this.#failure);
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
  }

  #unsubscribe(): void {
    for (const cell of this.#cells) this.#facts.unsubscribe(cell, this);
    this.#cells = [];
  }

  #evaluate(): Value {
    try {
      return this.#read(this.#view);
    } finally {
      this.#cells = this.#view.takeReads();
      for (const cell of this.#cells) this.#facts.subscribe(cell, this);
    }
  }
}
