/**
 * Answers whether a set has an element without walking through it, and changes large sets without copying them. Values are plain arrays; an
 * index of where each element is, is made beside an array when it is first asked for and is large enough.
 */
import { PositionTable } from './position-table.ts';
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
  readonly #indexes = new WeakMap<SetValue, PositionTable>();

  has(set: SetValue, element: Scalar): boolean {
    return set.length < INDEXED_FROM ? set.includes(element) : this.#indexOf(set).find(element) >= 0;
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

  /** Puts texts of others in the place of elements that are equal to them, where the set is large. @see RowStore.shareTexts */
  share(set: SetValue, elements: SetValue | undefined, own: (text: string) => string | undefined): void {
    if (set.length < INDEXED_FROM) return;
    const positions = elements?.map((element) => this.#indexOf(set).find(element)) ?? set.keys();
    for (const position of positions) {
      const text = set[position];
      const shared = typeof text === 'string' ? own(text) : undefined;
      if (shared !== undefined && shared === text) (set as Scalar[])[position] = shared;
    }
  }

  #indexOf(set: SetValue): PositionTable {
    const known = this.#indexes.get(set);
    if (known !== undefined) return known;
    const index = new PositionTable(set);
    this.#indexes.set(set, index);
    return index;
  }
}

/** The last element takes the place of one that goes: the order of a set means nothing. */
const change = (set: Scalar[], index: PositionTable, added: SetValue, removed: SetValue): void => {
  for (const element of removed) {
    const position = index.find(element);
    const last = set.at(-1);
    if (position < 0 || last === undefined) continue;
    index.delete(element);
    if (last !== element) {
      index.move(last, position);
      set[position] = last;
    }
    set.pop();
  }
  for (const element of added) {
    set.push(element);
    index.add(element);
  }
};

const without = (set: SetValue, removed: SetValue): SetValue => {
  const gone = new Set(removed);
  return set.filter((element) => !gone.has(element));
};
