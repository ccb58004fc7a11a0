/** The monitors of one connection. */
import { type OvsdbError, ProtocolError, RequestError } from '../errors.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Reply, RpcConnection } from '../wire/connection.ts';
import { isObject } from '../wire/notation.ts';
import type { MonitorSink } from './monitor-sink.ts';

/** From the newest to what RFC 7047 has; a server that lacks a method refuses it as unknown. */
const METHODS = ['monitor_cond_since', 'monitor_cond', 'monitor'] as const;
type Method = (typeof METHODS)[number];

export class Monitors {
  readonly #connection: RpcConnection;
  readonly #sinks = new Map<string, MonitorSink>();
  #nextId = 1;

  constructor(connection: RpcConnection) {
    this.#connection = connection;
  }

  /**
   * Begins to keep `sink` current; resolves when it is.
   * @throws RequestError, ConnectionLostError, ProtocolError from the result
   */
  async start(sink: MonitorSink, server: DatabaseModel): Promise<void> {
    const id = `${sink.database}:${this.#nextId++}`;
    const requests = sink.prepare(server);
    this.#sinks.set(id, sink);
    for (const method of METHODS) {
      if (await this.#tryMethod(method, id, sink, requests)) return;
    }
    throw new ProtocolError('the server does not know "monitor"');
  }

  stop(sink: MonitorSink): void {
    for (const [id, known] of this.#sinks) {
      if (known !== sink) continue;
      this.#sinks.delete(id);
      if (!this.#connection.closed) this.#connection.call('monitor_cancel', [id], () => {});
    }
  }

  /** The connection is gone. */
  end(): void {
    for (const sink of this.#sinks.values()) sink.disconnected();
    this.#sinks.clear();
  }

  /** @throws ProtocolError */
  receive(method: string, params: readonly unknown[]): void {
    const [id, second, third] = params;
    const sink = typeof id === 'string' ? this.#sinks.get(id) : undefined;
    if (sink === undefined) return;
    if (method === 'update') sink.apply(1, second);
    else if (method === 'update2') sink.apply(2, second);
    else if (method === 'update3') sink.apply(2, third, transactionId(second));
  }

  /** False when the server does not know the method. The reply is applied before the next message is read. */
  #tryMethod(method: Method, id: string, sink: MonitorSink, requests: object): Promise<boolean> {
    const params: unknown[] = [sink.database, id, requests];
    if (method === 'monitor_cond_since') params.push(sink.lastTransactionId);
    return new Promise((resolve, reject) => {
      this.#connection.call(method, params, (reply) => {
        if ('error' in reply) {
          if (isUnknownMethod(reply.error)) resolve(false);
          else reject(reply.error);
          return;
        }
        try {
          // A late reply does not make a monitor current that was closed meanwhile.
          if (this.#sinks.get(id) === sink) this.#begin(method, sink, reply);
          resolve(true);
        } catch (error) {
          // The connection ends with it, and no longer knows this request.
          reject(error);
          throw error;
        }
      });
    });
  }

  #begin(method: Method, sink: MonitorSink, { result }: Extract<Reply, { result: unknown }>): void {
    if (method === 'monitor') sink.replace(1, result);
    else if (method === 'monitor_cond') sink.replace(2, result);
    else if (!Array.isArray(result)) throw new ProtocolError('the result of monitor_cond_since is not an array');
    else if (result[0] === true) sink.apply(2, result[2], transactionId(result[1]), true);
    else sink.replace(2, result[2], transactionId(result[1]));
  }
}

const isUnknownMethod = (error: OvsdbError): boolean =>
  error instanceof RequestError && error.error === 'unknown method';

const transactionId = (value: unknown): string => {
  if (typeof value === 'string') return value;
  throw new ProtocolError(`a transaction id is ${isObject(value) ? 'an object' : typeof value}`);
};
