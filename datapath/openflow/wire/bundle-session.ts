/** One bundle over a bridge's socket, told while it is being found out. */
import { addAbortListener } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encode, MESSAGE, type Message, MessageReader } from '../ports/message.ts';
import { BARRIER_REPLY, BUNDLE_REPLY, COMMITTED, encodeBarrier, encodeCommit, encodeOpen, VERSION } from './bundle.ts';

/** A bridge that says nothing for so long after the last step counts as one that does not answer. */
const ANSWER_MS = 30_000;

export class BundleSession {
  readonly #socket: Socket;
  readonly #reader = new MessageReader();
  readonly #answer = Promise.withResolvers<'done' | 'refused'>();
  /** It was told to commit. */
  #isCommitted = false;

  constructor(path: string) {
    // Waited for by `commit`, if it comes to that.
    this.#answer.promise.catch(() => undefined);
    this.#socket = connect(path);
    this.#socket.on('error', (error) => this.#onClosed(error));
    this.#socket.on('close', () => this.#onClosed(new Error('connection closed')));
    this.#socket.on('data', (piece: Buffer) => this.#onData(piece));
    this.#socket.write(encodeOpen());
  }

  push(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /**
   * A step that is refused is left out of the bundle, and the rest could still be committed: so all of them have to be taken
   * before it is told to commit (`vconn_bundle_transact` in lib/vconn.c of Open vSwitch).
   * @returns `refused` if nothing was done, for whatever reason: the bridge said no, or was away before it was told to commit
   * @throws Error when it is not known whether it was done
   */
  async commit(signal: AbortSignal): Promise<'done' | 'refused'> {
    if (this.#socket.destroyed && !signal.aborted) return 'refused';
    const timeout = setTimeout(() => this.end(new Error('no answer')), ANSWER_MS);
    using _ = addAbortListener(signal, () => this.end(signal.reason));
    try {
      signal.throwIfAborted();
      this.#socket.write(encodeBarrier());
      return await this.#answer.promise;
    } finally {
      clearTimeout(timeout);
      this.end();
    }
  }

  /** What was not committed is not done. May be repeated. */
  end(reason: unknown = new Error('ended')): void {
    this.#answer.reject(reason);
    this.#socket.destroy();
  }

  #onClosed(error: Error): void {
    if (this.#isCommitted) this.end(error);
    else this.#refused();
  }

  #refused(): void {
    this.#answer.resolve('refused');
    this.#socket.destroy();
  }

  #onData(piece: Buffer): void {
    try {
      for (const message of this.#reader.push(piece)) this.#onMessage(message);
    } catch (error) {
      this.end(error);
    }
  }

  #onTaken(): void {
    this.#isCommitted = true;
    this.#socket.write(encodeCommit());
  }

  #onMessage({ type, xid, body }: Message): void {
    // One error, and nothing of the bundle is done: it comes before the answer to the barrier, or instead of that to the commit.
    if (type === MESSAGE.error) this.#refused();
    else if (type === BARRIER_REPLY) this.#onTaken();
    else if (type === MESSAGE.echoRequest) this.#socket.write(echoReply(xid, body));
    else if (type === BUNDLE_REPLY && body.length >= CONTROL && body.readUInt16BE(4) === COMMITTED) {
      this.#answer.resolve('done');
    }
  }
}

/** Bundle and type. */
const CONTROL = 6;

const echoReply = (xid: number, body: Buffer): Buffer => {
  const bytes = encode(MESSAGE.echoReply, xid, body);
  bytes.writeUInt8(VERSION, 0);
  return bytes;
};
