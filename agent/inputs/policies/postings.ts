/**
 * Selectors filed by what they require, so that an object finds those that select it without asking all of them: under the rarest
 * `key=value` that a selector requires, else under a key, else with the few that require nothing.
 */
import type { Labels } from '../../../api/label-selector.ts';
import { type CanonicalSelector, isSelected } from './canonical-selector.ts';

export interface Selecting {
  readonly selector: CanonicalSelector;
}

export class Postings<Item extends Selecting> {
  /** By key and value: a NUL is in neither. */
  readonly #filed = new Map<string, Set<Item>>();
  readonly #places = new Map<Item, string>();

  get size(): number {
    return this.#places.size;
  }

  add(item: Item): void {
    const place = this.#placeFor(item.selector);
    this.#places.set(item, place);
    const items = this.#filed.get(place);
    if (items === undefined) this.#filed.set(place, new Set([item]));
    else items.add(item);
  }

  delete(item: Item): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const items = this.#filed.get(place);
    items?.delete(item);
    if (items?.size === 0) this.#filed.delete(place);
  }

  /** Those that select an object with these labels. */
  matching(labels: Labels): Item[] {
    if (this.#places.size === 0) return [];
    const found: Item[] = [];
    this.#collect(UNFILED, labels, found);
    for (const [key, value] of Object.entries(labels)) {
      this.#collect(key, labels, found);
      this.#collect(`${key}\0${value}`, labels, found);
    }
    return found;
  }

  #collect(place: string, labels: Labels, found: Item[]): void {
    for (const item of this.#filed.get(place) ?? []) if (isSelected(item.selector, labels)) found.push(item);
  }

  #placeFor({ requirements }: CanonicalSelector): string {
    let rarest: string | undefined;
    let key: string | undefined;
    for (const requirement of requirements) {
      if (requirement.kind === 'absent' || (requirement.kind === 'notIn' && !requirement.mustExist)) continue;
      key ??= requirement.key;
      if (requirement.kind !== 'in' || requirement.values.size !== 1) continue;
      const place = `${requirement.key}\0${[...requirement.values][0]}`;
      if (rarest === undefined || this.#countAt(place) < this.#countAt(rarest)) rarest = place;
    }
    return rarest ?? key ?? UNFILED;
  }

  #countAt(place: string): number {
    return this.#filed.get(place)?.size ?? 0;
  }
}

/** No key is empty, nor has it a NUL. */
const UNFILED = '\0';
