import { syntaxError } from '../errors.ts';

/**
 * Puts an OpenFlow message together again from the lines of Open vSwitch's `ds_put_hex_dump()`, 16 bytes each. There are
 * several lines for every flow that changes, so they are read byte by byte.
 */
export class HexDump {
  #bytes = new Uint8Array(FIRST_SIZE);
  #count = 0;

  /** The message says in its header how long it is. */
  get isComplete(): boolean {
    return this.#count >= HEADER && this.#count === this.#length;
  }

  get bytes(): DataView {
    return new DataView(this.#bytes.buffer, 0, this.#count);
  }

  /** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
  push(line: string): void {
    const offset = isLine(line) ? numberAt(line, 0, OFFSET_DIGITS) : -1;
    if (offset < 0) throw syntaxError('a line of a dump of bytes', line);
    if (offset !== this.#count) throw syntaxError('the next line of a dump of bytes', line);
    this.#reserve(this.#count + BYTES_OF_LINE);
    let at = FIRST_BYTE;
    for (let byte = numberAt(line, at, 2); byte >= 0; byte = numberAt(line, at, 2)) {
      this.#bytes[this.#count++] = byte;
      at += 3;
    }
    if (this.#count >= HEADER && this.#count > this.#length) {
      throw syntaxError('a dump of as many bytes as the message has', line);
    }
  }

  get #length(): number {
    return ((this.#bytes[2] ?? 0) << 8) | (this.#bytes[3] ?? 0);
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * size);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

const HEADER = 8;
const FIRST_SIZE = 256;
const BYTES_OF_LINE = 16;
const OFFSET_DIGITS = 8;
/** Behind the offset and two blanks. */
const FIRST_BYTE = OFFSET_DIGITS + 2;
/** Each byte is two digits and a blank, or `-` in the middle. */
const LINE = /^[0-9a-f]{8} {2}(?:[0-9a-f]{2}[ -]){1,16} *\|/;

const isLine = (line: string): boolean => LINE.test(line);

/** Of lower-case hexadecimal digits; -1 when one of them is none. */
const numberAt = (line: string, start: number, digits: number): number => {
  let number = 0;
  for (let at = start; at < start + digits; at++) {
    const digit = digitOf(line.charCodeAt(at));
    if (digit < 0) return -1;
    number = number * 16 + digit;
  }
  return number;
};

const digitOf = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
};
