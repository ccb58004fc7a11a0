/**
 * A map by texts in half of the memory of a `Map`, and at twice the time of a look-up: for what there are very many of. Entries are one after
 * another in chunks, which never move, and what finds one is four bytes in a table. As in a `Map`, the order is that of insertion, and it may
 * change while it is walked over.
 */
import { textHash } from './text-hash.ts';

export class DenseMap<V> {
  #entries: Entries<V>;
  /** Of each place, the number of its entry and one more; 0 where there is none. A few entries are found without. */
  #table: Int32Array | undefined;
  #size = 0;

  /** @param keyIn absent: the key is held beside the value, in eight bytes */
  constructor(keyIn?: (value: V) => string) {
    this.#entries = newEntries(keyIn);
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const at = this.#find(key);
    return at < 0 ? undefined : valueAt(this.#entries, at);
  }

  has(key: string): boolean {
    return this.#find(key) >= 0;
  }

  /** The text that was put in, of those that are equal to this one. */
  keyOf(key: string): string | undefined {
    const at = this.#find(key);
    return at < 0 ? undefined : keyAt(this.#entries, at);
  }

  set(key: string, value: V): this {
    const at = this.#find(key);
    if (at >= 0) setAt(this.#entries, at, key, value);
    else this.#add(key, value);
    return this;
  }

  delete(key: string): boolean {
    const at = this.#find(key);
    if (at < 0) return false;
    setAt(this.#entries, at, undefined, undefined);
    this.#size -= 1;
    // Its place stays taken, as others may be behind it, until all are put in anew.
    if (this.#size * 2 < this.#entries.count && this.#entries.count > FEW) this.#renew();
    else if (this.#size === 0) this.#renew();
    return true;
  }

  clear(): void {
    this.#size = 0;
    for (let at = 0; at < this.#entries.count; at++) setAt(this.#entries, at, undefined, undefined);
    this.#renew();
  }

  *entries(): Generator<[string, V], undefined> {
    let entries = this.#entries;
    for (let at = 0; ; at++) {
      for (; entries.next !== undefined; entries = entries.next) at = keptBefore(entries, at);
      if (at >= entries.count) return;
      const key = keyAt(entries, at);
      if (key !== undefined) yield [key, valueAt(entries, at) as V];
    }
  }

  *keys(): Generator<string, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<V, undefined> {
    let entries = this.#entries;
    for (let at = 0; ; at++) {
      for (; entries.next !== undefined; entries = entries.next) at = keptBefore(entries, at);
      if (at >= entries.count) return;
      if (isTaken(entries, at)) yield valueAt(entries, at) as V;
    }
  }

  [Symbol.iterator](): Generator<[string, V], undefined> {
    return this.entries();
  }

  #find(key: string): number {
    const table = this.#table;
    const entries = this.#entries;
    if (table === undefined) {
      for (let at = 0; at < entries.count; at++) if (keyAt(entries, at) === key) return at;
      return -1;
    }
    const mask = table.length - 1;
    for (let place = textHash(key) & mask; ; place = (place + 1) & mask) {
      const number = table[place] as number;
      if (number === 0) return -1;
      if (keyAt(entries, number - 1) === key) return number - 1;
    }
  }

  #add(key: string, value: V): void {
    const { count } = this.#entries;
    // Three of four places at most are taken.
    if (this.#table === undefined ? count >= FEW : (count + 1) * 4 > this.#table.length * 3) this.#renew();
    const at = push(this.#entries, key, value);
    this.#size += 1;
    if (this.#table !== undefined) place(this.#table, key, at);
  }

  /** Without the places of what was deleted, and with more where they are few. */
  #renew(): void {
    const before = this.#entries;
    let entries = before;
    if (this.#size < before.count) {
      entries = newEntries(before.keyIn);
      for (let at = 0; at < before.count; at++) {
        const key = keyAt(before, at);
        if (key !== undefined) push(entries, key, valueAt(before, at) as V);
      }
      before.next = entries;
      this.#entries = entries;
    }
    this.#table = entries.count < FEW ? undefined : tableOf(entries);
  }
}

/** So many are looked through as fast as a table. */
const FEW = 8;

interface Entries<V> {
  readonly keyIn: ((value: V) => string) | undefined;
  /** Key and value in turns, or values alone; undefined where one was deleted. */
  readonly chunks: (string | V | undefined)[][];
  count: number;
  /** What took their place; these are not changed any more. */
  next: Entries<V> | undefined;
}

const CHUNK_BITS = 9;
const CHUNK = 1 << CHUNK_BITS;

const newEntries = <V>(keyIn: Entries<V>['keyIn']): Entries<V> => ({ keyIn, chunks: [], count: 0, next: undefined });

const keyAt = <V>({ keyIn, chunks }: Entries<V>, at: number): string | undefined => {
  const chunk = chunks[at >> CHUNK_BITS];
  const index = at & (CHUNK - 1);
  if (keyIn === undefined) return chunk?.[index << 1] as string | undefined;
  const value = chunk?.[index];
  return value === undefined ? undefined : keyIn(value as V);
};

const valueAt = <V>({ keyIn, chunks }: Entries<V>, at: number): V | undefined => {
  const index = at & (CHUNK - 1);
  return chunks[at >> CHUNK_BITS]?.[keyIn === undefined ? (index << 1) + 1 : index] as V | undefined;
};

const isTaken = <V>(entries: Entries<V>, at: number): boolean =>
  (entries.keyIn === undefined ? keyAt(entries, at) : valueAt(entries, at)) !== undefined;

/** Who walks over them is so far among those that took their place. */
const keptBefore = <V>(entries: Entries<V>, end: number): number => {
  let kept = 0;
  for (let at = 0; at < end; at++) if (keyAt(entries, at) !== undefined) kept += 1;
  return kept;
};

const setAt = <V>({ keyIn, chunks }: Entries<V>, at: number, key: string | undefined, value: V | undefined): void => {
  const chunk = chunks[at >> CHUNK_BITS];
  if (chunk === undefined) return;
  const index = at & (CHUNK - 1);
  if (keyIn === undefined) {
    chunk[index << 1] = key;
    chunk[(index << 1) + 1] = value;
  } else chunk[index] = value;
};

/** The first chunk grows as any array does, later ones have their size from the start. */
const push = <V>(entries: Entries<V>, key: string, value: V): number => {
  const { keyIn, chunks } = entries;
  const at = entries.count;
  entries.count += 1;
  const index = at >> CHUNK_BITS;
  if (index === chunks.length) chunks.push(index === 0 ? [] : new Array(keyIn === undefined ? CHUNK << 1 : CHUNK));
  setAt(entries, at, key, value);
  return at;
};

const tableOf = <V>(entries: Entries<V>): Int32Array => {
  let length = 16;
  while (entries.count * 3 >= length * 2) length *= 2;
  const table = new Int32Array(length);
  for (let at = 0; at < entries.count; at++) place(table, keyAt(entries, at) as string, at);
  return table;
};

const place = (table: Int32Array, key: string, at: number): void => {
  const mask = table.length - 1;
  let free = textHash(key) & mask;
  while (table[free] !== 0) free = (free + 1) & mask;
  table[free] = at + 1;
};
