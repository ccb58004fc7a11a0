/** JSON-RPC 1.0 as RFC 7047 §4 uses it: both sides may ask, many requests may be under way, replies come in any order. */
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../base/clock.ts';
import { ConnectionLostError, NotConnectedError, OvsdbError, ProtocolError, RequestError } from '../errors.ts';
import { MessageFramer } from './framer.ts';
import { isObject, type JsonObject } from './notation.ts';
import { InactivityProbe } from './probe.ts';

export interface ConnectionOptions {
  readonly onNotification?: (method: string, params: readonly unknown[]) => void;
  /** Called once; `error` is undefined when this side closed the connection. */
  readonly onClose?: (error: OvsdbError | undefined) => void;
  /** Milliseconds of silence after which the peer is asked for an echo, and again until it is given up; 0 = never. */
  readonly probeIntervalMs?: number;
  readonly maxMessageBytes?: number;
  readonly clock?: Clock;
}

/** `error` is a RequestError when the peer refused, a ConnectionLostError when it will never reply. */
export type Reply = { readonly result: unknown } | { readonly error: OvsdbError };

/** Called while the reply is being read, so before anything that the peer sent after it is looked at. */
export type ReplyHandler = (reply: Reply) => void;

export const DEFAULT_PROBE_INTERVAL_MS = 5_000;
export const DEFAULT_MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

export class RpcConnection {
  readonly #stream: Duplex;
  readonly #options: ConnectionOptions;
  readonly #framer: MessageFramer;
  readonly #probe: InactivityProbe | undefined;
  readonly #pending = new Map<number, { readonly method: string; readonly onReply: ReplyHandler }>();
  #nextId = 1;
  #closed = false;

  constructor(stream: Duplex, options: ConnectionOptions = {}) {
    this.#stream = stream;
    this.#options = options;
    this.#framer = new MessageFramer(options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES);
    this.#probe = this.#startProbe(options.probeIntervalMs ?? DEFAULT_PROBE_INTERVAL_MS);
    stream.on('data', (chunk: Buffer) => this.#read(chunk));
    stream.on('error', (cause) => this.#end(new ConnectionLostError(`connection lost: ${cause.message}`, { cause })));
    stream.on('end', () => this.#end(new ConnectionLostError('the server closed the connection')));
    stream.on('close', () => this.#end(new ConnectionLostError('the connection was closed')));
    // What happened before is not reported again. The owner does not have this object yet.
    if (stream.destroyed) queueMicrotask(() => this.#end(new ConnectionLostError('the connection was closed at once')));
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends a request; the result is its id.
   * @throws NotConnectedError when the connection is closed already; nothing was sent then
   */
  call(method: string, params: readonly unknown[], onReply: ReplyHandler): number {
    return this.callText(method, JSON.stringify(params), onReply);
  }

  /** As `call`, with parameters that are JSON already. */
  callText(method: string, params: string, onReply: ReplyHandler): number {
    if (this.#closed) throw new NotConnectedError(`${method}: the connection is closed`);
    const id = this.#nextId++;
    this.#pending.set(id, { method, onReply });
    this.#stream.write(`{"id":${id},"method":${JSON.stringify(method)},"params":${params}}`);
    return id;
  }

  /** As `call`, for requests whose reply need not be handled before the next message. */
  request(method: string, params: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.call(method, params, (reply) => ('error' in reply ? reject(reply.error) : resolve(reply.result)));
    });
  }

  notify(method: string, params: readonly unknown[]): void {
    if (!this.#closed) this.#send({ id: null, method, params });
  }

  /** Ends the connection; requests under way fail with a ConnectionLostError. Repeating it does nothing. */
  close(error?: OvsdbError): void {
    this.#end(error);
  }

  #startProbe(intervalMs: number): InactivityProbe | undefined {
    if (intervalMs <= 0) return undefined;
    return new InactivityProbe({
      clock: this.#options.clock ?? systemClock,
      intervalMs,
      ask: () => this.call('echo', [], () => {}),
      giveUp: () => this.#end(new ConnectionLostError(`nothing came from the server for ${2 * intervalMs} ms`)),
    });
  }

  #send(message: JsonObject): void {
    this.#stream.write(JSON.stringify(message));
  }

  #read(chunk: Buffer): void {
    this.#probe?.touch();
    try {
      for (const text of this.#framer.push(chunk)) {
        if (this.#closed) return;
        this.#dispatch(parse(text));
      }
    } catch (error) {
      this.#end(
        error instanceof OvsdbError ? error : new ProtocolError(`bad message: ${String(error)}`, { cause: error }),
      );
    }
  }

  #dispatch(message: JsonObject): void {
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      this.#receiveReply(id, message);
      return;
    }
    if (!Array.isArray(params)) throw new ProtocolError(`${method}: params is not an array`);
    if (id === null || id === undefined) this.#options.onNotification?.(method, params);
    else if (method === 'echo') this.#send({ id, result: params, error: null });
    else this.#send({ id, result: null, error: 'unknown method' });
  }

  #receiveReply(id: unknown, { result, error }: JsonObject): void {
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (typeof id !== 'number' || pending === undefined) return;
    this.#pending.delete(id);
    if (error === null || error === undefined) pending.onReply({ result });
    else pending.onReply({ error: requestError(pending.method, error) });
  }

  #end(error: OvsdbError | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#probe?.stop();
    this.#stream.destroy();
    const lost = error ?? new ConnectionLostError('the connection was closed by this side');
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { onReply } of pending) onReply({ error: lost });
    this.#options.onClose?.(error);
  }
}

const parse = (text: string): JsonObject => {
  const message: unknown = JSON.parse(text);
  if (!isObject(message)) throw new ProtocolError('a message is not an object');
  return message;
};

/** ovsdb-server sends a string, or an object as in the results of operations. */
const requestError = (method: string, error: unknown): RequestError => {
  if (!isObject(error)) return new RequestError(method, String(error), undefined);
  const { error: name, details } = error;
  return new RequestError(method, String(name), typeof details === 'string' ? details : undefined);
};
