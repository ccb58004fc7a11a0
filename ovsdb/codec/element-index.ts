/**
 * Answers whether a set has an element without walking through it, and changes large sets without copying them. Values are plain arrays; an
 * index of where each element is, is made beside an array when it is first asked for and is large enough.
 */
import type { Scalar, SetValue } from './value.ts';

/** Below this many elements a walk, or a copy, is as fast. */
const INDEXED_FROM = 32;

export interface Toggled {
  /** The same array as before where the set is large. */
  readonly value: SetValue;
  readonly added: SetValue;
  readonly removed: SetValue;
}

export class ElementIndex {
  readonly #indexes = new WeakMap<SetValue, Map<Scalar, number>>();

  has(set: SetValue, element: Scalar): boolean {
    return set.length < INDEXED_FROM ? set.includes(element) : this.#indexOf(set).has(element);
  }

  /**
   * The set in which every element of `difference` is there when it was not, and the other way round: what `modify` in an
   * <update2> means for sets (ovsdb-server(7), "Update2 Notification"). A large set is changed in place: whoever keeps the array sees it.
   */
  toggle(set: SetValue, difference: SetValue): Toggled {
    const removed = difference.filter((element) => this.has(set, element));
    const added = removed.length === 0 ? difference : difference.filter((element) => !this.has(set, element));
    if (set.length >= INDEXED_FROM) {
      change(set as Scalar[], this.#indexOf(set), added, removed);
      return { value: set, added, removed };
    }
    const kept = removed.length === 0 ? set : without(set, removed);
    return { value: added.length === 0 ? kept : kept.concat(added), added, removed };
  }

  #indexOf(set: SetValue): Map<Scalar, number> {
    const known = this.#indexes.get(set);
    if (known !== undefined) return known;
    const index = new Map(set.map((element, position) => [element, position]));
    this.#indexes.set(set, index);
    return index;
  }
}

/** The last element takes the place of one that goes: the order of a set means nothing. */
const change = (set: Scalar[], index: Map<Scalar, number>, added: SetValue, removed: SetValue): void => {
  for (const element of removed) {
    const position = index.get(element);
    const last = set.pop();
    index.delete(element);
    if (position === undefined || last === undefined || last === element) continue;
    set[position] = last;
    index.set(last, position);
  }
  for (const element of added) index.set(element, set.push(element) - 1);
};

const without = (set: SetValue, removed: SetValue): SetValue => {
  const gone = new Set(removed);
  return set.filter((element) => !gone.has(element));
};
