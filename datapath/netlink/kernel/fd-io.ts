import { readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { codeOf } from '../../../base/error-code.ts';
import { netlinkFault } from '../errors.ts';
import type { DatagramIo } from '../wire/socket.ts';

/** The kernel fills at most 32 KiB per datagram of a dump; one object alone is smaller. */
const BUFFER_BYTES = 64 * 1024;

/** A netlink socket's file descriptor, with blocking reads and writes. */
export class FdIo implements DatagramIo {
  readonly #fd: number;
  readonly #buffer: Buffer;

  /** @param buffer may be shared by sockets that are not used at once */
  constructor(fd: number, buffer: Buffer) {
    this.#fd = fd;
    this.#buffer = buffer;
  }

  static newBuffer(): Buffer {
    return Buffer.alloc(BUFFER_BYTES);
  }

  send(bytes: Uint8Array): void {
    requireWhole(
      bytes,
      retryInterrupted(() => writeSync(this.#fd, bytes)),
    );
  }

  async sendInBackground(bytes: Uint8Array): Promise<void> {
    requireWhole(bytes, (await promisify(write)(this.#fd, bytes)).bytesWritten);
  }

  receive(): Buffer {
    const length = retryInterrupted(() => readSync(this.#fd, this.#buffer));
    if (length === this.#buffer.length) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a datagram was cut off');
    return this.#buffer.subarray(0, length);
  }
}

const requireWhole = (bytes: Uint8Array, written: number): void => {
  if (written === bytes.length) return;
  throw netlinkFault('ERR_NETLINK_MALFORMED', `only ${written} of ${bytes.length} bytes were sent`);
};

/** libuv repeats an interrupted write by itself, but not a read. */
const retryInterrupted = (call: () => number): number => {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (codeOf(error) !== 'EINTR') throw error;
    }
  }
};
