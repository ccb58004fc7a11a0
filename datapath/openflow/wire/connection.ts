/** Connections to a bridge's socket, each in one version of OpenFlow. */
import { addAbortListener } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { messageOf } from '../../../base/error-message.ts';
import { OpenflowError } from '../errors.ts';
import { encode, encodeHello, MESSAGE, type Message, MessageReader } from './message.ts';

export interface BridgeSocket {
  readonly bridge: string;
  readonly path: string;
}

/** The connection ended before it had any effect: the same can be tried on another one. */
export class NothingDone extends Error {}

export class Connection {
  readonly #version: number;
  readonly #socket: Socket;
  readonly #reader = new MessageReader();
  readonly #messages: Message[] = [];
  #wake: () => void = () => undefined;
  #end: { readonly reason: unknown } | undefined;
  #isConnected = false;
  #isAnswered = false;

  constructor(path: string, version: number) {
    this.#version = version;
    this.#socket = connect(path);
    // With the first question in one write: if a second one failed, the answer to the first would not be read.
    this.#socket.cork();
    this.#socket.write(encodeHello(version));
    this.#socket.on('connect', () => {
      this.#isConnected = true;
      this.#socket.uncork();
    });
    this.#socket.on('error', (error) => this.#onClosed(error));
    this.#socket.on('close', () => this.#onClosed());
    this.#socket.on('data', (piece: Buffer) => this.#onData(piece));
  }

  /** All of them at once. */
  write(...messages: readonly Uint8Array[]): void {
    this.#socket.cork();
    for (const message of messages) this.#socket.write(message);
    this.#socket.uncork();
  }

  /** The bridge's next answer. @throws NothingDone when there was none; or why the connection has ended */
  async next(): Promise<Message> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return this.#checked(message);
      if (this.#end !== undefined) throw this.#end.reason;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Idempotent. */
  end(reason: unknown): void {
    this.#end ??= { reason };
    this.#socket.destroy();
    this.#wake();
  }

  #onClosed(cause?: Error): void {
    const isUnanswered = this.#isConnected && !this.#isAnswered;
    const closed = cause ?? new Error('connection closed');
    this.end(isUnanswered ? new NothingDone('it closes connections before it answers', { cause }) : closed);
  }

  #onData(piece: Buffer): void {
    try {
      for (const message of this.#reader.push(piece)) this.#onMessage(message);
      this.#wake();
    } catch (error) {
      this.end(error);
    }
  }

  #onMessage(message: Message): void {
    const { type, xid, body } = message;
    // The greeting names the newest version that the bridge speaks; from then on it speaks ours.
    if (type === MESSAGE.hello) return;
    this.#isAnswered = true;
    if (type === MESSAGE.echoRequest) this.write(encode(this.#version, MESSAGE.echoReply, xid, body));
    else this.#messages.push(message);
  }

  #checked(message: Message): Message {
    if (message.version === this.#version) return message;
    throw new Error(`it answers in version ${message.version} of OpenFlow`);
  }
}

/** A bridge that is silent for so long counts as one that does not answer. */
const ANSWER_MS = 30_000;

/**
 * ovs-vswitchd closes a connection that has not greeted it within a second (`timeout_CONNECTING` in lib/rconn.c), and this
 * process may be busy for longer than that between the connection and its first words.
 */
const ATTEMPTS = 5;

/**
 * @param use is called again with another connection when it throws NothingDone
 * @param opened the connection for the first call, if there is one already
 * @throws OpenflowError ERR_OPENFLOW_UNREACHABLE, or what `use` throws of OpenflowErrors
 */
export const withConnection = async <T>(
  { bridge, path }: BridgeSocket,
  version: number,
  signal: AbortSignal,
  use: (connection: Connection) => Promise<T>,
  opened?: Connection,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    // What the caller still does now must not come between the connection and its greeting.
    await immediate();
    signal.throwIfAborted();
    try {
      return await inTime((attempt === 1 ? opened : undefined) ?? new Connection(path, version), signal, use);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof OpenflowError) throw cause;
      if (cause instanceof NothingDone && attempt < ATTEMPTS) continue;
      const message = `bridge ${bridge} does not answer: ${messageOf(cause)}`;
      throw new OpenflowError('ERR_OPENFLOW_UNREACHABLE', message, { cause });
    }
  }
};

const inTime = async <T>(
  connection: Connection,
  signal: AbortSignal,
  use: (connection: Connection) => Promise<T>,
): Promise<T> => {
  const timeout = setTimeout(() => connection.end(new Error('no answer')), ANSWER_MS);
  using _ = addAbortListener(signal, () => connection.end(signal.reason));
  try {
    return await use(connection);
  } finally {
    clearTimeout(timeout);
    connection.end(undefined);
  }
};
