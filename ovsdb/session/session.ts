/** Keeps a connection to one database, whatever happens to its servers. */
import { abortable, onAbort } from '../../base/abort.ts';
import { Backoff, type BackoffOptions } from '../../base/backoff.ts';
import { type Clock, delay, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { NotConnectedError, OutcomeUnknownError, OvsdbError, RequestError, TimeoutError } from '../errors.ts';
import { Listeners } from '../listeners.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Operation } from '../transact/operation.ts';
import { type OperationResult, throwAnyFailure, transactionOutcome } from '../transact/outcome.ts';
import type { Reply, RpcConnection } from '../wire/connection.ts';
import { type Dial, type DialOptions, dialer } from '../wire/dial.ts';
import { formatRemote, type Remote } from '../wire/remote.ts';
import { asOvsdbError, Link, type LinkOptions } from './link.ts';
import type { MonitorSink } from './monitor-sink.ts';

export interface SessionOptions extends DialOptions {
  /** For example `OVN_Northbound`. */
  readonly database: string;
  /** Where its servers listen; all are tried, in an order that is shuffled once. */
  readonly remotes: readonly Remote[];
  /** Use only the leader of a cluster: slower to find, but never behind. Off by default. */
  readonly leaderOnly?: boolean;
  /** Default: 5 seconds; 0 = never. */
  readonly probeIntervalMs?: number;
  /** For the connection and everything that is asked before it is used. Default: 10 seconds. */
  readonly connectTimeoutMs?: number;
  /** After this a transaction without a reply has an unknown outcome. Default: 30 seconds. */
  readonly transactTimeoutMs?: number;
  /** Default: 256 MiB. */
  readonly maxMessageBytes?: number;
  /** Between rounds through all remotes. Default: from 100 ms to 8 seconds. */
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
  /** From 0 to 1, for the jitter. */
  readonly random?: () => number;
  readonly dial?: Dial;
}

export type SessionState =
  | { readonly kind: 'idle' | 'closed' }
  | { readonly kind: 'connecting'; readonly remote: string }
  /** Usable: the server is fit and its schema is known. */
  | { readonly kind: 'connected'; readonly remote: string; readonly schemaVersion: string }
  | { readonly kind: 'waiting'; readonly error: OvsdbError; readonly retryInMs: number };

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_TRANSACT_TIMEOUT_MS = 30_000;
const DEFAULT_BACKOFF: BackoffOptions = { minMs: 100, maxMs: 8_000 };

/**
 * A connection to a database that is made again whenever it ends. `start` it, `mirror` replicas with it, `transact`, and
 * `close` it in the end. It throws nothing by itself: it reports what happens by `onState`.
 */
export class OvsdbSession {
  readonly #options: SessionOptions;
  readonly #linkOptions: LinkOptions;
  readonly #clock: Clock;
  readonly #remotes: readonly Remote[];
  readonly #backoff: Backoff;
  readonly #states = new Listeners<SessionState>();
  readonly #sinks = new Set<MonitorSink>();
  readonly #closing = new AbortController();
  #state: SessionState = { kind: 'idle' };
  #link: Link | undefined;
  #running: Promise<void> | undefined;

  /** @throws OvsdbError ERR_OVSDB_REMOTE when there is no remote */
  constructor(options: SessionOptions) {
    if (options.remotes.length === 0) throw new OvsdbError('ERR_OVSDB_REMOTE', 'a session needs a remote');
    const { clock = systemClock, random = Math.random, backoff = DEFAULT_BACKOFF } = options;
    this.#options = options;
    this.#clock = clock;
    this.#remotes = shuffled(options.remotes, random);
    this.#backoff = new Backoff({ ...backoff, random });
    this.#linkOptions = {
      database: options.database,
      dial: options.dial ?? dialer(options),
      connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      probeIntervalMs: options.probeIntervalMs,
      maxMessageBytes: options.maxMessageBytes,
      clock,
      leaderOnly: options.leaderOnly ?? false,
      newestIndex: new Map(),
    };
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The schema of the connected server. */
  get schema(): DatabaseModel | undefined {
    return this.#link?.schema;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#states.add(listener);
  }

  /** Connects, and connects again, until `close`. Repeating it does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Transactions under way fail with an OutcomeUnknownError. Resolves when everything is released. */
  async close(): Promise<void> {
    const error = new NotConnectedError('the session is closed');
    this.#closing.abort(error);
    this.#link?.connection.close(error);
    await this.#running;
    this.#setState({ kind: 'closed' });
  }

  /** Gives the connection up and makes a new one, for a caller that has reason to distrust it. */
  reconnect(reason: OvsdbError): void {
    this.#link?.connection.close(reason);
  }

  /** Keeps a replica current over all connections, until the result is called. */
  mirror(sink: MonitorSink): () => void {
    this.#sinks.add(sink);
    this.#link?.mirror(sink);
    return () => {
      this.#sinks.delete(sink);
      this.#link?.unmirror(sink);
      sink.disconnected();
    };
  }

  /** @throws the signal's reason, or NotConnectedError when the session is closed, from the result */
  whenConnected(signal?: AbortSignal): Promise<void> {
    return abortable(signal, (resolve, reject) => {
      this.#closing.signal.throwIfAborted();
      if (this.#link !== undefined) resolve();
      return this.onState(({ kind }) => {
        if (kind === 'connected') resolve();
        if (kind === 'closed') reject(this.#closing.signal.reason);
      });
    });
  }

  /**
   * Runs a transaction: all of it or nothing. When it resolves, replicas of this session have seen its changes, as
   * ovsdb-server sends updates before the reply of the transaction that made them.
   * @throws NotConnectedError when nothing was sent
   * @throws OperationError, RequestError when it failed and changed nothing
   * @throws OutcomeUnknownError when the connection ended, or `signal` was aborted, before the reply came
   */
  transact(operations: readonly Operation[], signal?: AbortSignal): Promise<OperationResult[]> {
    const params = [this.#options.database, ...operations];
    return this.#transact(
      (connection, onReply) => connection.call('transact', params, onReply),
      (reply) => resultsOf(operations, reply),
      signal,
    );
  }

  /**
   * As `transact`, for operations that are text already: a list of JSON without its brackets. Their results are not read, only
   * whether there is an error among them.
   * @throws as `transact`; an OperationError does not say which operation failed
   */
  transactText(operations: string): Promise<void> {
    const params = `[${JSON.stringify(this.#options.database)},${operations}]`;
    return this.#transact(
      (connection, onReply) => connection.callText('transact', params, onReply),
      (reply) => throwAnyFailure(resultOf(reply)),
    );
  }

  #transact<T>(
    send: (connection: RpcConnection, onReply: (reply: Reply) => void) => number,
    read: (reply: Reply) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#link === undefined) throw new NotConnectedError(`not connected to ${this.#options.database}`);
      const { connection } = this.#link;
      const timeoutMs = this.#options.transactTimeoutMs ?? DEFAULT_TRANSACT_TIMEOUT_MS;
      let id: number | undefined;
      const giveUp = (cause: unknown): void => {
        settle();
        connection.notify('cancel', [id]);
        reject(unknownOutcome(cause));
      };
      const cancelTimer = this.#clock.schedule(timeoutMs, () =>
        giveUp(new TimeoutError(`no reply within ${timeoutMs} ms`)),
      );
      const settle = (): void => {
        cancelTimer();
        stopListening();
      };
      const stopListening = onAbort(signal, () => giveUp(signal?.reason));
      try {
        id = send(connection, (reply) => {
          settle();
          // A promise that was rejected already ignores this.
          settleWith(resolve, reject, () => read(reply));
        });
      } catch (error) {
        settle();
        throw error;
      }
    });
  }

  async #run(): Promise<void> {
    for (let attempt = 1; !this.#closing.signal.aborted; attempt++) {
      const remote = this.#remotes[(attempt - 1) % this.#remotes.length];
      if (remote === undefined) return;
      const { error, wasStable } = await this.#use(remote);
      if (this.#closing.signal.aborted) return;
      if (wasStable) this.#backoff.reset();
      // Other remotes are tried at once; only when all of them have failed it is time to wait.
      const isRoundOver = attempt % this.#remotes.length === 0;
      await this.#wait(error, isRoundOver && !wasStable ? this.#backoff.nextMs() : 0);
    }
  }

  /** Connects to a remote and stays with it as long as it is good; never fails. */
  async #use(remote: Remote): Promise<{ error: OvsdbError; wasStable: boolean }> {
    const name = formatRemote(remote);
    this.#setState({ kind: 'connecting', remote: name });
    try {
      const ended = Promise.withResolvers<OvsdbError>();
      const onEnd = (error: OvsdbError): void => {
        this.#link = undefined;
        ended.resolve(error);
      };
      const link = await Link.open(remote, this.#linkOptions, onEnd, this.#closing.signal);
      const connectedAt = this.#clock.monotonic();
      // Promises hand the link over: `close` may have been called meanwhile, when nobody had it.
      if (this.#closing.signal.aborted) link.connection.close(asOvsdbError(this.#closing.signal.reason));
      if (!link.connection.closed) this.#connected(link, name);
      const error = await ended.promise;
      const { maxMs } = this.#options.backoff ?? DEFAULT_BACKOFF;
      return { error, wasStable: this.#clock.monotonic() - connectedAt >= maxMs };
    } catch (error) {
      return { error: asOvsdbError(error), wasStable: false };
    }
  }

  #connected(link: Link, remote: string): void {
    this.#link = link;
    // First of all, so that what listeners write is answered after the replicas have begun to follow.
    for (const sink of this.#sinks) link.mirror(sink);
    this.#setState({ kind: 'connected', remote, schemaVersion: link.schema.version });
  }

  #wait(error: OvsdbError, retryInMs: number): Promise<void> {
    this.#setState({ kind: 'waiting', error, retryInMs });
    // Who asks looks at the signal.
    return delay(this.#clock, retryInMs, this.#closing.signal).catch(() => {});
  }

  #setState(state: SessionState): void {
    this.#state = state;
    this.#states.emit(state);
  }
}

/** @throws OperationError, RequestError, OutcomeUnknownError, ProtocolError */
const resultsOf = (operations: readonly Operation[], reply: Reply): OperationResult[] =>
  transactionOutcome(operations, resultOf(reply));

/** @throws RequestError, OutcomeUnknownError */
const resultOf = (reply: Reply): unknown => {
  if ('result' in reply) return reply.result;
  throw reply.error instanceof RequestError ? reply.error : unknownOutcome(reply.error);
};

const unknownOutcome = (cause: unknown): OutcomeUnknownError => {
  return new OutcomeUnknownError(`the outcome of the transaction is unknown: ${messageOf(cause)}`, { cause });
};

const settleWith = <T>(resolve: (value: T) => void, reject: (error: unknown) => void, compute: () => T): void => {
  try {
    resolve(compute());
  } catch (error) {
    reject(error);
  }
};

/** Fisher–Yates. */
const shuffled = (remotes: readonly Remote[], random: () => number): readonly Remote[] => {
  const result = [...remotes];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.min(last, Math.floor(random() * (last + 1)));
    const swapped = result[last];
    if (swapped !== undefined) result.splice(last, 1, ...result.splice(other, 1, swapped));
  }
  return result;
};
