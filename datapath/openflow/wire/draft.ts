/** A bundle on its way to a bridge, in bytes of our own making. */
import { OpenflowError } from '../errors.ts';
import type { BundleDraft, BundleOp } from '../switch-client.ts';
import { formatFlow } from '../text/flow.ts';
import {
  BARRIER,
  BARRIER_REPLY,
  BUNDLE_REPLY,
  COMMIT,
  COMMITTED,
  encodeSteps,
  FIRST_STEP,
  OPEN,
  VERSION,
} from './bundle.ts';
import { type BridgeSocket, Connection, NothingDone, withConnection } from './connection.ts';
import { errorName } from './error-names.ts';
import { MESSAGE, type Message } from './message.ts';

export class SocketDraft implements BundleDraft {
  readonly #socket: BridgeSocket;
  readonly #signal: AbortSignal;
  readonly #ops: BundleOp[] = [];
  /** For another connection, if the first one ends too early. */
  readonly #pieces: Uint8Array[] = [];
  #connection: Connection | undefined;
  /** A step cannot be encoded. */
  #error: unknown;

  constructor(socket: BridgeSocket, signal: AbortSignal) {
    this.#socket = socket;
    this.#signal = signal;
  }

  push(ops: readonly BundleOp[]): void {
    if (ops.length === 0 || this.#error !== undefined) return;
    try {
      const piece = encodeSteps(ops, FIRST_STEP + this.#ops.length);
      for (const op of ops) this.#ops.push(op);
      this.#pieces.push(piece);
      if (this.#connection === undefined) {
        this.#connection = new Connection(this.#socket.path, VERSION);
        this.#connection.write(OPEN);
      }
      this.#connection.write(piece);
    } catch (error) {
      this.#error = error;
      this.drop();
    }
  }

  async commit(): Promise<void> {
    const opened = this.#connection;
    if (this.#error !== undefined) throw this.#error;
    if (opened === undefined) return;
    const transact = (connection: Connection): Promise<void> => {
      if (connection !== opened) connection.write(OPEN, ...this.#pieces);
      return this.#transact(connection);
    };
    try {
      await withConnection(this.#socket, VERSION, this.#signal, transact, opened);
    } finally {
      this.drop();
    }
  }

  drop(): void {
    this.#connection?.end(new Error('dropped'));
  }

  /**
   * A bridge leaves a step that it refuses out of the bundle, and would commit the rest: so it has to accept all of them first
   * (`vconn_bundle_transact` in lib/vconn.c of Open vSwitch).
   */
  async #transact(connection: Connection): Promise<void> {
    connection.write(BARRIER);
    await this.#answer(connection, ({ type }) => type === BARRIER_REPLY);
    connection.write(COMMIT);
    await this.#answer(connection, ({ type, body }) => type === BUNDLE_REPLY && controlType(body) === COMMITTED);
  }

  async #answer(connection: Connection, isIt: (message: Message) => boolean): Promise<void> {
    for (let message = await connection.next(); !isIt(message); message = await connection.next()) {
      if (message.type === MESSAGE.error) throw this.#refusal(message);
    }
  }

  /** One error, and nothing of the bundle is done. */
  #refusal({ xid, body }: Message): Error {
    const op = this.#ops[xid - FIRST_STEP];
    const reason = errorName(body);
    // About the bundle and no step of it: it has taken too long, for example.
    if (op === undefined) return new NothingDone(`it answers with ${reason}`);
    const message = `bridge ${this.#socket.bridge} refused: ${reason} for ${stepText(op)}`;
    return new OpenflowError('ERR_OPENFLOW_REFUSED', message);
  }
}

/** Behind the bundle's number. */
const controlType = (body: Buffer): number | undefined => (body.length < 6 ? undefined : body.readUInt16BE(4));

/** For messages. */
export const stepText = (op: BundleOp): string => {
  switch (op.op) {
    case 'addFlow':
      return `flow ${formatFlow(op.flow)}`;
    case 'deleteFlow':
      return `the deletion of flow ${op.identity}`;
    case 'insertBucket':
    case 'removeBucket':
      return `${op.op} ${op.bucket} of group ${op.group}`;
    default:
      return `${op.op} ${op.group}`;
  }
};
