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
    if (offsetOf(line) !== this.#count) throw syntaxError('the next line of a dump of bytes', line);
    this.#reserve(this.#count + BYTES_OF_LINE);
    const first = this.#count;
    let at = FIRST_BYTE;
    for (; this.#count - first < BYTES_OF_LINE; at += 3) {
      const byte = byteAt(line, at);
      if (byte < 0 || !isGap(line.charCodeAt(at + 2))) break;
      this.#bytes[this.#count++] = byte;
    }
    while (line.charCodeAt(at) === BLANK) at++;
    if (this.#count === first || line.charCodeAt(at) !== END) throw syntaxError('a line of a dump of bytes', line);
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
const BLANK = 0x20;
const DASH = 0x2d;
/** What is between the bytes and what they are as text: `|`. */
const END = 0x7c;

/** After each byte there is a blank, or `-` in the middle. */
const isGap = (code: number): boolean => code === BLANK || code === DASH;

/** -1 if the line does not begin with one. */
const offsetOf = (line: string): number => {
  let offset = 0;
  for (let at = 0; at < OFFSET_DIGITS; at += 2) {
    const byte = byteAt(line, at);
    if (byte < 0) return -1;
    offset = offset * 256 + byte;
  }
  return line.charCodeAt(OFFSET_DIGITS) === BLANK && line.charCodeAt(OFFSET_DIGITS + 1) === BLANK ? offset : -1;
};

/** Of lower-case hexadecimal digits; negative when one of them is none. */
const byteAt = (line: string, at: number): number =>
  ((DIGITS[line.charCodeAt(at)] ?? -1) << 4) | (DIGITS[line.charCodeAt(at + 1)] ?? -1);

/** Character code → digit, or -1. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)));
