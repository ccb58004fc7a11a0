import type { Scalar } from '../codec/value.ts';
import type { Uuid } from '../uuid.ts';
import type { AnyRow } from './row.ts';

/** The key of a row in an index; undefined for a row that is not in it. */
export type KeyFunction = (row: AnyRow) => string | undefined;

/** The key of an index over several columns, or over one. */
export const indexKey = (values: readonly (Scalar | undefined)[]): string =>
  values.length === 1 ? String(values[0]) : JSON.stringify(values);

/** Finds rows by a key computed from them. Several rows may have the same key. */
export class RowIndex {
  readonly keyOf: KeyFunction;
  readonly #rows = new Map<string, Uuid | Set<Uuid>>();

  constructor(keyOf: KeyFunction) {
    this.keyOf = keyOf;
  }

  /** The keys in the index. */
  keys(): IterableIterator<string> {
    return this.#rows.keys();
  }

  /** In the order of their uuids, so that whoever picks one always picks the same. */
  find(key: string): readonly Uuid[] {
    const found = this.#rows.get(key);
    if (found === undefined) return [];
    return typeof found === 'string' ? [found] : [...found].sort();
  }

  update(uuid: Uuid, before: AnyRow | undefined, after: AnyRow | undefined): void {
    const oldKey = before === undefined ? undefined : this.keyOf(before);
    const newKey = after === undefined ? undefined : this.keyOf(after);
    if (oldKey === newKey) return;
    if (oldKey !== undefined) this.#remove(oldKey, uuid);
    if (newKey !== undefined) this.#add(newKey, uuid);
  }

  #add(key: string, uuid: Uuid): void {
    const found = this.#rows.get(key);
    if (found === undefined) this.#rows.set(key, uuid);
    else if (typeof found === 'string') this.#rows.set(key, new Set([found, uuid]));
    else found.add(uuid);
  }

  #remove(key: string, uuid: Uuid): void {
    const found = this.#rows.get(key);
    if (found === uuid) this.#rows.delete(key);
    else if (typeof found === 'object') {
      found.delete(uuid);
      if (found.size === 0) this.#rows.delete(key);
    }
  }
}
