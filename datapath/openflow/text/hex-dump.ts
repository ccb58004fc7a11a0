import { syntaxError } from '../errors.ts';

/** Puts an OpenFlow message together again from the lines of Open vSwitch's `ds_put_hex_dump()`, 16 bytes each. */
export class HexDump {
  readonly #bytes: number[] = [];

  /** The message says in its header how long it is. */
  get isComplete(): boolean {
    return this.#bytes.length >= HEADER && this.#bytes.length === this.#length;
  }

  get bytes(): DataView {
    return new DataView(Uint8Array.from(this.#bytes).buffer);
  }

  /** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
  push(line: string): void {
    const [, offset, text] = LINE.exec(line) ?? [];
    if (offset === undefined || text === undefined) throw syntaxError('a line of a dump of bytes', line);
    if (Number.parseInt(offset, 16) !== this.#bytes.length) throw syntaxError('the next line of a dump of bytes', line);
    for (const byte of text.match(/[0-9a-f]{2}/g) ?? []) this.#bytes.push(Number.parseInt(byte, 16));
    if (this.#bytes.length >= HEADER && this.#bytes.length > this.#length) {
      throw syntaxError('a dump of as many bytes as the message has', line);
    }
  }

  get #length(): number {
    return ((this.#bytes[2] ?? 0) << 8) | (this.#bytes[3] ?? 0);
  }
}

const HEADER = 8;
const LINE = /^([0-9a-f]{8}) {2}((?:[0-9a-f]{2}[ -]){1,16}) *\|/;
