/**
 * The desired state of a backend, by key. Several owners may desire the same item: the first in the order of owners wins,
 * and when it withdraws the next one wins, without a gap.
 */
import { isDeepStrictEqual } from 'node:util';
import { byName, type OwnerOrder } from '../../ovsdb/desired/types.ts';
import type { ItemSink } from './engine.ts';

export class ItemStore<Item> implements ItemSink<Item> {
  readonly #keyOf: (item: Item) => string;
  readonly #onDirty: () => void;
  readonly #order: OwnerOrder;
  readonly #owned = new Map<string, ReadonlyMap<string, Item>>();
  readonly #claims = new Map<string, Map<string, Item>>();
  readonly #desired = new Map<string, Item>();
  #dirty = new Set<string>();

  /**
   * @param onDirty called whenever the desired state changes @param order which of several owners of one key wins
   */
  constructor(keyOf: (item: Item) => string, onDirty: () => void, order: OwnerOrder = byName) {
    this.#order = order;
    this.#keyOf = keyOf;
    this.#onDirty = onDirty;
  }

  get desired(): ReadonlyMap<string, Item> {
    return this.#desired;
  }

  /** What `takeDirty` would give. */
  get dirty(): ReadonlySet<string> {
    return this.#dirty;
  }

  /** What an owner has a say in. */
  keysOf(owner: string): Iterable<string> {
    return this.#owned.get(owner)?.keys() ?? [];
  }

  /** How much each owner has a say in. */
  *sizes(): Generator<readonly [string, number]> {
    for (const [owner, items] of this.#owned) yield [owner, items.size];
  }

  /** The owners of an item, the winner first. */
  ownersOf(key: string): readonly string[] {
    return [...(this.#claims.get(key)?.keys() ?? [])].sort(this.#order);
  }

  set(owner: string, items: readonly Item[]): void {
    const before = this.#owned.get(owner) ?? new Map<string, Item>();
    const after = new Map(items.map((item) => [this.#keyOf(item), item]));
    this.#owned.set(owner, after);
    for (const key of before.keys()) if (!after.has(key)) this.#release(owner, key);
    for (const [key, item] of after) {
      if (isDeepStrictEqual(before.get(key), item)) continue;
      const claims = this.#claims.get(key) ?? new Map<string, Item>();
      this.#claims.set(key, claims.set(owner, item));
      this.#settle(key);
    }
  }

  delete(owner: string): void {
    for (const key of this.keysOf(owner)) this.#release(owner, key);
    this.#owned.delete(owner);
  }

  /** The keys that changed since the last call. */
  takeDirty(): ReadonlySet<string> {
    const dirty = this.#dirty;
    this.#dirty = new Set();
    return dirty;
  }

  #release(owner: string, key: string): void {
    const claims = this.#claims.get(key);
    claims?.delete(owner);
    if (claims?.size === 0) this.#claims.delete(key);
    this.#settle(key);
  }

  #settle(key: string): void {
    const claims = this.#claims.get(key);
    const winner = claims === undefined ? undefined : claims.get(firstOf(claims.keys(), this.#order));
    if (isDeepStrictEqual(this.#desired.get(key), winner)) return;
    if (winner === undefined) this.#desired.delete(key);
    else this.#desired.set(key, winner);
    this.#dirty.add(key);
    this.#onDirty();
  }
}

const firstOf = (owners: Iterable<string>, order: OwnerOrder): string => {
  let found: string | undefined;
  for (const owner of owners) if (found === undefined || order(owner, found) < 0) found = owner;
  return found ?? '';
};
