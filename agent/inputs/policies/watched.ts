import { isDeepStrictEqual } from 'node:util';
import type { FactCell, FactReader, FactStore } from '../../model/fact-store.ts';
import type { TrackedView } from '../../model/tracked-view.ts';

/** Something that follows from facts, and is read again when one of them changes. */
export class Watched<Value> implements FactReader {
  readonly #facts: FactStore;
  readonly #view: TrackedView;
  readonly #read: (view: TrackedView) => Value;
  readonly #onChange: () => void;
  #cells: readonly FactCell[] = [];
  #value: Value;

  /** @param onChange not for a value that equals the one before */
  constructor(facts: FactStore, view: TrackedView, read: (view: TrackedView) => Value, onChange: () => void) {
    this.#facts = facts;
    this.#view = view;
    this.#read = read;
    this.#onChange = onChange;
    this.#value = this.#evaluate();
  }

  get value(): Value {
    return this.#value;
  }

  stale(): void {
    this.stop();
    const before = this.#value;
    this.#value = this.#evaluate();
    if (!isDeepStrictEqual(before, this.#value)) this.#onChange();
  }

  stop(): void {
    for (const cell of this.#cells) this.#facts.unsubscribe(cell, this);
    this.#cells = [];
  }

  #evaluate(): Value {
    const value = this.#read(this.#view);
    this.#cells = this.#view.takeReads();
    for (const cell of this.#cells) this.#facts.subscribe(cell, this);
    return value;
  }
}
