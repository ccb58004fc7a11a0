/** The policies of one tier in their order, with the places that they have. */
import { comparePlaces, type Placed, placesOf } from './places.ts';

export class AdminOrder {
  readonly #ordered: Placed[] = [];
  #places: ReadonlyMap<string, number> = new Map();

  /** OVN's priority of a policy's first rule; undefined: there is no room for it. */
  placeOf(key: string): number | undefined {
    return this.#places.get(key);
  }

  /** One that is there already leaves its place for this one. */
  set(placed: Placed): void {
    this.delete(placed.key);
    const at = this.#ordered.findIndex((other) => comparePlaces(placed, other) < 0);
    this.#ordered.splice(at === -1 ? this.#ordered.length : at, 0, placed);
  }

  delete(key: string): void {
    const at = this.#ordered.findIndex((other) => other.key === key);
    if (at !== -1) this.#ordered.splice(at, 1);
  }

  /** @returns keys of those that are at another place now */
  settle(): readonly string[] {
    const before = this.#places;
    this.#places = placesOf(this.#ordered);
    return this.#ordered.map(({ key }) => key).filter((key) => before.get(key) !== this.#places.get(key));
  }

  /** Those that there is no room for. */
  unplaced(): readonly string[] {
    return this.#ordered.map(({ key }) => key).filter((key) => !this.#places.has(key));
  }
}
