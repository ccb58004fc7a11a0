/**
 * Answers whether a set has an element without walking through it. Values stay plain arrays; an index is made beside an
 * array when it is first asked for and is large enough, and moves on to the array that follows it.
 */
import type { Scalar, SetValue } from './value.ts';

/** Below this many elements a walk is as fast. */
const INDEXED_FROM = 32;

export interface Toggled {
  readonly value: SetValue;
  readonly added: SetValue;
  readonly removed: SetValue;
}

export class ElementIndex {
  readonly #indexes = new WeakMap<SetValue, Set<Scalar>>();

  has(set: SetValue, element: Scalar): boolean {
    return set.length < INDEXED_FROM ? set.includes(element) : this.#indexOf(set).has(element);
  }

  /**
   * The set in which every element of `difference` is there when it was not, and the other way round: what `modify` in an
   * <update2> means for sets (ovsdb-server(7), "Update2 Notification").
   */
  toggle(set: SetValue, difference: SetValue): Toggled {
    const removed = difference.filter((element) => this.has(set, element));
    const added = removed.length === 0 ? difference : difference.filter((element) => !this.has(set, element));
    const kept = removed.length === 0 ? set : without(set, removed);
    const value = added.length === 0 ? kept : kept.concat(added);
    this.#move(set, value, added, removed);
    return { value, added, removed };
  }

  #indexOf(set: SetValue): Set<Scalar> {
    const known = this.#indexes.get(set);
    if (known !== undefined) return known;
    const index = new Set(set);
    this.#indexes.set(set, index);
    return index;
  }

  #move(from: SetValue, to: SetValue, added: SetValue, removed: SetValue): void {
    const index = this.#indexes.get(from);
    if (index === undefined) return;
    this.#indexes.delete(from);
    if (to.length < INDEXED_FROM) return;
    for (const element of removed) index.delete(element);
    for (const element of added) index.add(element);
    this.#indexes.set(to, index);
  }
}

const without = (set: SetValue, removed: SetValue): SetValue => {
  const [only] = removed;
  // From the end, where what came last is: that goes first, too, more often than not.
  if (removed.length === 1 && only !== undefined) return set.toSpliced(set.lastIndexOf(only), 1);
  const gone = new Set(removed);
  return set.filter((element) => !gone.has(element));
};
