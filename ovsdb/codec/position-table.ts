/** Where each element of a large set is in its array, in four bytes for each place: the elements themselves are in the array. */
import { textHash } from '../../base/text-hash.ts';
import type { Scalar, SetValue } from './value.ts';

export class PositionTable {
  readonly #set: SetValue;
  /** Position and one more; 0 is free, and what was taken once and is not any more is -1. */
  #table: Int32Array;
  /** Places that are not free. */
  #taken = 0;

  constructor(set: SetValue) {
    this.#set = set;
    this.#table = this.#tableOf();
  }

  /** -1 when the set has no such element. */
  find(element: Scalar): number {
    const place = this.#placeOf(element);
    return place < 0 ? -1 : (this.#table[place] as number) - 1;
  }

  /** The element is at the end of the array now. */
  add(element: Scalar): void {
    if ((this.#taken + 1) * 4 > this.#table.length * 3) this.#table = this.#tableOf();
    else this.#put(this.#table, element, this.#set.length - 1);
  }

  /** @param element of the array still */
  delete(element: Scalar): void {
    const place = this.#placeOf(element);
    if (place >= 0) this.#table[place] = GONE;
  }

  /** @param element that the array has where it was and at its new position */
  move(element: Scalar, position: number): void {
    const place = this.#placeOf(element);
    if (place >= 0) this.#table[place] = position + 1;
  }

  #placeOf(element: Scalar): number {
    const table = this.#table;
    const mask = table.length - 1;
    for (let place = hashOf(element) & mask; ; place = (place + 1) & mask) {
      const number = table[place] as number;
      if (number === 0) return -1;
      if (number !== GONE && this.#set[number - 1] === element) return place;
    }
  }

  #put(table: Int32Array, element: Scalar, position: number): void {
    const mask = table.length - 1;
    let place = hashOf(element) & mask;
    while (table[place] !== 0) place = (place + 1) & mask;
    table[place] = position + 1;
    this.#taken += 1;
  }

  /** Between three and six of eight places are taken. */
  #tableOf(): Int32Array {
    let length = 64;
    while (this.#set.length * 3 >= length * 2) length *= 2;
    const table = new Int32Array(length);
    this.#taken = 0;
    for (let position = 0; position < this.#set.length; position++)
      this.#put(table, this.#set[position] as Scalar, position);
    return table;
  }
}

const GONE = -1;

const hashOf = (element: Scalar): number => textHash(String(element));
