/**
 * Cuts a byte stream into JSON objects. RFC 7047 §4.1 puts one JSON object after the other with nothing between them, so
 * the end of a message is where its braces close. Every byte is looked at once, whatever the chunks are, and a message is
 * decoded as a whole, so that a character may be split between chunks.
 */
import { ProtocolError } from '../errors.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

export class MessageFramer {
  readonly #maxBytes: number;
  /** The beginning of a message whose end has not come yet. */
  #parts: Buffer[] = [];
  #size = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The texts of the messages that `chunk` completes.
   * @throws ProtocolError when something else than an object begins, or a message is larger than allowed
   */
  push(chunk: Buffer): string[] {
    const messages: string[] = [];
    let start = 0;
    while (start < chunk.length) {
      if (this.#depth === 0) {
        start = beginning(chunk, start);
        if (start === chunk.length) break;
      }
      const end = this.#scan(chunk, start);
      this.#keep(chunk.subarray(start, end));
      if (this.#depth === 0) messages.push(this.#take());
      start = end;
    }
    return messages;
  }

  /** Moves on to the end of the message, or of the chunk; the position after it. */
  #scan(chunk: Buffer, start: number): number {
    let position = this.#inString ? this.#scanString(chunk, start) : start;
    let depth = this.#depth;
    while (position < chunk.length) {
      const byte = chunk[position++];
      if (byte === QUOTE) position = this.#scanString(chunk, position);
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) break;
    }
    this.#depth = depth;
    return position;
  }

  /** Moves on to the end of the string, or of the chunk. */
  #scanString(chunk: Buffer, start: number): number {
    let escaped = this.#escaped;
    for (let position = start; position < chunk.length; position++) {
      const byte = chunk[position];
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        this.#escaped = false;
        return position + 1;
      }
    }
    this.#inString = true;
    this.#escaped = escaped;
    return chunk.length;
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#maxBytes) throw new ProtocolError(`a message is larger than ${this.#maxBytes} bytes`);
    this.#parts.push(part);
  }

  #take(): string {
    const [first] = this.#parts;
    const whole = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    return whole.toString('utf8');
  }
}

/** Where the next message begins: white space between messages is allowed. */
const beginning = (chunk: Buffer, start: number): number => {
  for (let position = start; position < chunk.length; position++) {
    const byte = chunk[position];
    if (byte === OPEN_BRACE) return position;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) {
      throw new ProtocolError(`a message begins with the byte 0x${byte?.toString(16)} instead of "{"`);
    }
  }
  return chunk.length;
};
