/** The wire between a client and an in-memory server, which can be cut behind any byte. */
import { type Duplex, duplexPair } from 'node:stream';
import type { Dial } from '../../wire/dial.ts';

export type Direction = 'to server' | 'to client';

export interface Cut {
  readonly direction: Direction;
  /** How many bytes pass in this direction before it happens. */
  readonly after: number;
  /**
   * `end`: the server closes the connection; `reset`: the client gets an error; `silence`: nothing passes any more in either direction and
   * neither side notices, as when a machine loses its power; a function: it is called, and everything passes.
   */
  readonly fate: 'end' | 'reset' | 'silence' | (() => void);
}

export class CutWire {
  readonly #dial: Dial;
  /** Of the connections, in their order; those that come after them are whole. */
  readonly #cuts: Cut[];
  /** That have passed, of all connections: when it no longer grows, nothing happens by itself. */
  bytes = 0;
  /** Where the messages of the first connection end. */
  readonly ends: Readonly<Record<Direction, number[]>> = { 'to server': [], 'to client': [] };
  #connections = 0;

  constructor(dial: Dial, cuts: readonly Cut[]) {
    this.#dial = dial;
    this.#cuts = [...cuts];
  }

  /** To be given to a session. */
  readonly dial: Dial = async (remote, signal) => {
    const server = await this.#dial(remote, signal);
    const [near, client] = duplexPair();
    const cut = this.#cuts.shift();
    const isFirst = this.#connections++ === 0;
    const sever = (): void => {
      if (typeof cut?.fate === 'function') cut.fate();
      else if (cut !== undefined) severed(cut.fate, { server, near, client });
    };
    const pass = (from: Duplex, to: Duplex, direction: Direction): void => {
      let room = cut?.direction === direction ? cut.after : Number.POSITIVE_INFINITY;
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.on('data', (chunk: Buffer) => {
        const isCut = chunk.length >= room;
        const part = isCut && typeof cut?.fate === 'string' ? chunk.subarray(0, room) : chunk;
        room = isCut ? Number.POSITIVE_INFINITY : room - chunk.length;
        this.bytes += part.length;
        if (isFirst) this.ends[direction].push((this.ends[direction].at(-1) ?? 0) + part.length);
        if (part.length > 0) to.write(part);
        if (isCut) sever();
      });
    };
    pass(near, server, 'to server');
    pass(server, near, 'to client');
    return client;
  };
}

const severed = (
  fate: 'end' | 'reset' | 'silence',
  { server, near, client }: { readonly server: Duplex; readonly near: Duplex; readonly client: Duplex },
): void => {
  for (const stream of [near, server]) stream.removeAllListeners('data').resume();
  if (fate === 'silence') return;
  server.removeAllListeners('close').destroy();
  if (fate === 'end') near.end();
  // What has passed is read before.
  else setImmediate(() => client.destroy(new Error('read ECONNRESET')));
};
