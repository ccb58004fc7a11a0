/** One connection to one server, from the dialling to its end. */
import { addAbortListener } from 'node:events';
import type { Duplex } from 'node:stream';
import { unlessAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { NotConnectedError, OvsdbError, TimeoutError } from '../errors.ts';
import type { DatabaseModel } from '../schema/model.ts';
import { RpcConnection } from '../wire/connection.ts';
import type { Dial } from '../wire/dial.ts';
import { formatRemote, type Remote } from '../wire/remote.ts';
import { type Demands, databaseOf, fetchSchema, type ServerReplica, unfitness, watchServer } from './handshake.ts';
import type { MonitorSink } from './monitor-sink.ts';
import { Monitors } from './monitors.ts';
import { answeredInTurn } from './reply-order.ts';

export interface LinkOptions {
  readonly database: string;
  readonly dial: Dial;
  readonly connectTimeoutMs: number;
  readonly probeIntervalMs: number | undefined;
  readonly maxMessageBytes: number | undefined;
  readonly clock: Clock;
  readonly leaderOnly: boolean;
  /** Cluster id → the newest log index that any of its members has shown; kept over connections. */
  readonly newestIndex: Map<string, number>;
}

export class Link {
  readonly connection: RpcConnection;
  /** The server's, when it was connected. A conversion ends the connection. */
  readonly schema: DatabaseModel;
  readonly #monitors: Monitors;
  readonly #clock: Clock;

  private constructor(connection: RpcConnection, monitors: Monitors, schema: DatabaseModel, clock: Clock) {
    this.connection = connection;
    this.#monitors = monitors;
    this.schema = schema;
    this.#clock = clock;
  }

  /**
   * Connects, and makes sure that the server is fit.
   * @param onEnd called once when the link is open and then ends
   * @throws OvsdbError, from the result
   */
  static async open(
    remote: Remote,
    options: LinkOptions,
    onEnd: (error: OvsdbError) => void,
    signal: AbortSignal,
  ): Promise<Link> {
    const { clock, connectTimeoutMs: ms } = options;
    const late = new AbortController();
    const cancel = clock.schedule(ms, () =>
      late.abort(new TimeoutError(`${formatRemote(remote)}: not connected within ${ms} ms`)),
    );
    try {
      return await openLink(remote, options, onEnd, AbortSignal.any([signal, late.signal]));
    } finally {
      cancel();
    }
  }

  static async prepare(connection: RpcConnection, monitors: Monitors, options: LinkOptions): Promise<Link> {
    const server = await watchServer(connection, monitors);
    if (server !== undefined) keepFit(server, connection, options);
    return new Link(connection, monitors, await fetchSchema(connection, options.database), options.clock);
  }

  mirror(sink: MonitorSink): void {
    answeredInTurn(this.connection, this.#clock, this.#monitors.start(sink, this.schema)).catch((error: unknown) =>
      this.connection.close(asOvsdbError(error)),
    );
  }

  unmirror(sink: MonitorSink): void {
    this.#monitors.stop(sink);
  }
}

export const asOvsdbError = (error: unknown): OvsdbError =>
  error instanceof OvsdbError ? error : new NotConnectedError(String(error), { cause: error });

const openLink = async (
  remote: Remote,
  options: LinkOptions,
  onEnd: (error: OvsdbError) => void,
  signal: AbortSignal,
): Promise<Link> => {
  const { clock, probeIntervalMs, maxMessageBytes } = options;
  const stream = await dialled(remote, options, signal);
  const ended = Promise.withResolvers<never>();
  // No one may be waiting for it when it comes.
  ended.promise.catch(() => {});
  let onClose: (error: OvsdbError) => void = ended.reject;
  const connection: RpcConnection = new RpcConnection(stream, {
    clock,
    ...(probeIntervalMs !== undefined && { probeIntervalMs }),
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    onNotification: (method, params) => {
      // The schema was converted, or the database is gone (ovsdb-server(7), "Monitor_canceled"): restart.
      if (method === 'monitor_canceled') connection.close(new NotConnectedError('the server canceled a monitor'));
      else monitors.receive(method, params);
    },
    onClose: (error) => {
      monitors.end();
      onClose(error ?? new NotConnectedError('the connection was closed by this side'));
    },
  });
  const monitors = new Monitors(connection);
  using _ = addAbortListener(signal, () => connection.close(asOvsdbError(signal.reason)));
  try {
    signal.throwIfAborted();
    // The end of the connection ends every wait for an answer, whatever has become of that.
    const link = await Promise.race([Link.prepare(connection, monitors, options), ended.promise]);
    if (connection.closed) throw new NotConnectedError('the connection ended while it was being prepared');
    onClose = onEnd;
    return link;
  } catch (error) {
    connection.close(asOvsdbError(error));
    throw asOvsdbError(error);
  }
};

/** Ends with the signal even if the dialler does not, for example while it waits for certificates. */
const dialled = async (remote: Remote, { dial }: LinkOptions, signal: AbortSignal): Promise<Duplex> => {
  const dialling = dial(remote, signal);
  try {
    return await unlessAborted(signal, dialling);
  } catch (error) {
    // A stream that comes too late has no other owner.
    dialling.then(
      (stream) => stream.destroy(),
      () => {},
    );
    throw error;
  }
};

/** @throws OvsdbError when the server is not fit now; when it is no longer, the connection ends */
const keepFit = (server: ServerReplica, connection: RpcConnection, options: LinkOptions): void => {
  const now = unfitnessOf(server, options);
  if (now !== undefined) throw now;
  server.onUpdate(() => {
    const error = unfitnessOf(server, options);
    if (error !== undefined) connection.close(error);
  });
};

const unfitnessOf = (
  server: ServerReplica,
  { database, leaderOnly, newestIndex }: LinkOptions,
): OvsdbError | undefined => {
  const row = databaseOf(server, database);
  const demands: Demands = { leaderOnly, newestIndex };
  const error = unfitness(database, row, demands);
  if (error === undefined && row?.cid !== undefined && row.index !== undefined) newestIndex.set(row.cid, row.index);
  return error;
};
