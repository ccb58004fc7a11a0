/** Puts bytes one after the other, in network order, into memory that grows. */
export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  /** @param size that will probably be enough */
  constructor(size = FIRST_SIZE) {
    this.#bytes = new Uint8Array(size);
  }

  get length(): number {
    return this.#length;
  }

  /** A view of all that was written. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  u8(value: number): this {
    const at = this.#take(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    return this.putU16(this.#take(2), value);
  }

  u32(value: number): this {
    const at = this.#take(4);
    const bytes = this.#bytes;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
    return this;
  }

  bytes(bytes: Uint8Array): this {
    const at = this.#take(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  zeros(count: number): this {
    // New memory is zero, and nothing is written twice.
    this.#take(count);
    return this;
  }

  /** With zeros, to a multiple of eight bytes. @param from where that is counted from */
  pad(from = 0): this {
    return this.zeros(-(this.#length - from) & 7);
  }

  /** Writes at a place where something stands already: a length that was not known. */
  putU16(at: number, value: number): this {
    this.#bytes[at] = value >>> 8;
    this.#bytes[at + 1] = value;
    return this;
  }

  /** May put other memory in place of what is full. @returns where they are */
  #take(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return at;
  }
}

const FIRST_SIZE = 256;
