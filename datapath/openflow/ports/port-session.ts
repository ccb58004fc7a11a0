/**
 * Asks a bridge for its ports and changes them, over its socket and without a program: ovs-ofctl(8) sets one port in each of
 * its runs, and hundreds of networks come and go at once.
 */
import { addAbortListener } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { messageOf } from '../../../base/error-message.ts';
import { OpenflowError } from '../errors.ts';
import type { NoFloodResult } from '../switch-client.ts';
import {
  decodeError,
  decodePorts,
  type ErrorMessage,
  encode,
  encodeNoFlood,
  encodePortsRequest,
  MESSAGE,
  type Message,
  MessageReader,
  PORT_MOD_FAILED,
  type PortConfig,
  VERSION,
} from './message.ts';

export interface BridgeSocket {
  readonly bridge: string;
  readonly path: string;
}

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const readPorts = (socket: BridgeSocket, signal: AbortSignal): Promise<PortConfig[]> =>
  withSession(socket, signal, (session) => session.ports());

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const changeNoFlood = (
  socket: BridgeSocket,
  changes: ReadonlyMap<number, boolean>,
  signal: AbortSignal,
): Promise<NoFloodResult> =>
  withSession(socket, signal, async (session) => {
    const there = new Map((await session.ports()).map((port) => [port.number, port]));
    const present: (readonly [PortConfig, boolean])[] = [];
    const gone = new Set<number>();
    for (const [number, on] of changes) {
      const port = there.get(number);
      if (port === undefined) gone.add(number);
      else present.push([port, on]);
    }
    const refused = new Map<number, string>();
    for (const [number, { type, code }] of await session.change(present)) {
      if (type === PORT_MOD_FAILED) gone.add(number);
      else refused.set(number, `bridge ${socket.bridge} refused: error ${type}.${code}`);
    }
    return { gone, refused };
  });

/** A switch that says nothing for so long counts as one that does not answer. */
const ANSWER_MS = 10_000;

/**
 * ovs-vswitchd closes a connection that has not greeted it within a second (`timeout_CONNECTING` in lib/rconn.c), and this
 * process may be busy for longer than that between the connection and its first words. Nothing was done then: another is opened.
 */
const ATTEMPTS = 5;

const withSession = async <T>(
  socket: BridgeSocket,
  signal: AbortSignal,
  use: (session: PortSession) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    // What the caller still does now must not come between the connection and its greeting.
    await immediate();
    signal.throwIfAborted();
    try {
      return await inSession(socket.path, signal, use);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof OpenflowError) throw cause;
      if (cause instanceof ClosedUnanswered && attempt < ATTEMPTS) continue;
      const message = `bridge ${socket.bridge} does not answer: ${messageOf(cause)}`;
      throw new OpenflowError('ERR_OPENFLOW_UNREACHABLE', message, { cause });
    }
  }
};

const inSession = async <T>(
  path: string,
  signal: AbortSignal,
  use: (session: PortSession) => Promise<T>,
): Promise<T> => {
  const session = new PortSession(path);
  const timeout = setTimeout(() => session.end(new Error('no answer')), ANSWER_MS);
  using _ = addAbortListener(signal, () => session.end(signal.reason));
  try {
    return await use(session);
  } finally {
    clearTimeout(timeout);
    session.end(undefined);
  }
};

/** Before it had answered anything. */
class ClosedUnanswered extends Error {
  constructor(cause?: Error) {
    super('it closes connections before it answers', { cause });
  }
}

const PORTS_XID = 1;
const BARRIER_XID = 2;
const FIRST_CHANGE_XID = 3;

class PortSession {
  readonly #socket: Socket;
  readonly #reader = new MessageReader();
  readonly #ports: PortConfig[] = [];
  readonly #portsTold = Promise.withResolvers<PortConfig[]>();
  readonly #changed = Promise.withResolvers<void>();
  readonly #errors = new Map<number, ErrorMessage>();
  #isConnected = false;
  #isAnswered = false;

  constructor(path: string) {
    // Waited for one after the other: the one that is not yet waited for must not count as unhandled.
    this.#portsTold.promise.catch(() => undefined);
    this.#changed.promise.catch(() => undefined);
    this.#socket = connect(path);
    this.#socket.on('connect', () => {
      this.#isConnected = true;
    });
    this.#socket.on('error', (error) => this.#onClosed(error));
    this.#socket.on('close', () => this.#onClosed());
    this.#socket.on('data', (piece: Buffer) => this.#onData(piece));
  }

  /** The first of all questions. */
  ports(): Promise<PortConfig[]> {
    // In one write: were the second to fail, why the first was refused would not be read.
    this.#socket.write(Buffer.concat([encode(MESSAGE.hello, 0), encodePortsRequest(PORTS_XID)]));
    return this.#portsTold.promise;
  }

  /** @returns port → why it was not changed */
  async change(changes: readonly (readonly [PortConfig, boolean])[]): Promise<Map<number, ErrorMessage>> {
    if (changes.length === 0) return new Map();
    const messages = changes.map(([port, on], index) => encodeNoFlood(FIRST_CHANGE_XID + index, port, on));
    // It is answered when everything before it is done.
    this.#socket.write(Buffer.concat([...messages, encode(MESSAGE.barrierRequest, BARRIER_XID)]));
    await this.#changed.promise;
    return new Map(
      changes.flatMap(([{ number }], index) => {
        const error = this.#errors.get(FIRST_CHANGE_XID + index);
        return error === undefined ? [] : [[number, error] as const];
      }),
    );
  }

  /** May be repeated. */
  end(reason: unknown): void {
    this.#portsTold.reject(reason);
    this.#changed.reject(reason);
    this.#socket.destroy();
  }

  #onClosed(error?: Error): void {
    if (this.#isConnected && !this.#isAnswered) this.end(new ClosedUnanswered(error));
    else this.end(error ?? new Error('connection closed'));
  }

  #onData(piece: Buffer): void {
    try {
      for (const message of this.#reader.push(piece)) this.#onMessage(message);
    } catch (error) {
      this.end(error);
    }
  }

  #onMessage({ version, type, xid, body }: Message): void {
    // Its greeting names the newest version that it speaks; from then on it speaks ours.
    if (type === MESSAGE.hello) return;
    this.#isAnswered = true;
    if (version !== VERSION) throw new Error(`it answers in version ${version} of OpenFlow`);
    if (type === MESSAGE.echoRequest) this.#socket.write(encode(MESSAGE.echoReply, xid, body));
    else if (type === MESSAGE.error) this.#onError(xid, decodeError(body));
    else if (type === MESSAGE.barrierReply && xid === BARRIER_XID) this.#changed.resolve();
    else if (type === MESSAGE.statsReply && xid === PORTS_XID) this.#onPorts(body);
  }

  #onPorts(body: Buffer): void {
    const { ports, hasMore } = decodePorts(body);
    for (const port of ports) this.#ports.push(port);
    if (!hasMore) this.#portsTold.resolve(this.#ports);
  }

  #onError(xid: number, error: ErrorMessage): void {
    // That our version is not spoken is said like this, too.
    if (xid < FIRST_CHANGE_XID) throw new Error(`it answers with error ${error.type}.${error.code}`);
    this.#errors.set(xid, error);
  }
}
