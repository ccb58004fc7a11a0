/** Speaks the protocol for in-memory databases, and can be made to misbehave as real servers do. */
import { type Duplex, duplexPair } from 'node:stream';
import { messageOf } from '../../../base/error-message.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import type { Operation } from '../../transact/operation.ts';
import type { Dial } from '../../wire/dial.ts';
import { MessageFramer } from '../../wire/framer.ts';
import type { MemoryDatabase } from './database.ts';
import type { Columns } from './difference.ts';
import type { Contents } from './rows.ts';

export interface MemoryServerOptions {
  /** What the server knows; old ones know less. */
  readonly methods?: readonly string[];
  /** Called before each request is answered; true swallows it: the client never gets a reply. */
  readonly swallow?: (method: string, params: readonly unknown[]) => boolean;
  /** Called after each request is executed; true ends the connection instead of answering. */
  readonly dieAfter?: (method: string, params: readonly unknown[]) => boolean;
  /** Whether a monitor can go on after the last transaction that it has seen, as with clustered databases. */
  readonly remembers?: boolean;
  /** As Open vSwitch before 2.13: clients cannot choose the uuids of rows. */
  readonly refusesUuids?: true;
  /** What `get_schema` gives; the schema of the database when it is not given. */
  readonly schema?: (database: string) => unknown;
}

interface Message {
  readonly id: unknown;
  readonly method?: string;
  readonly params?: unknown[];
}

const ALL_METHODS = [
  'echo',
  'get_schema',
  'monitor',
  'monitor_cond',
  'monitor_cond_since',
  'monitor_cancel',
  'transact',
  'set_db_change_aware',
];

export class MemoryServer {
  readonly databases: ReadonlyMap<string, MemoryDatabase>;
  readonly #streams = new Set<Duplex>();
  options: MemoryServerOptions;
  /** Transaction id → the contents after it, of all databases. */
  readonly #history = new Map<string, Contents>();
  /** Methods in the order in which they were asked for. */
  readonly requests: string[] = [];
  /** False: connections are refused. */
  listening = true;

  constructor(databases: readonly MemoryDatabase[], options: MemoryServerOptions = {}) {
    this.databases = new Map(databases.map((database) => [database.model.name, database]));
    this.options = options;
  }

  /** To be given to a session. */
  readonly dial: Dial = async () => {
    await Promise.resolve();
    if (!this.listening) throw new Error('connection refused');
    const [ours, theirs] = duplexPair();
    this.#serve(ours);
    return theirs;
  };

  /** Ends all connections, as a server that dies does. */
  disconnect(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }

  /** Sends a notification to all clients. */
  notify(method: string, params: readonly unknown[]): void {
    for (const stream of this.#streams) send(stream, { id: null, method, params });
  }

  #serve(stream: Duplex): void {
    this.#streams.add(stream);
    const framer = new MessageFramer(1 << 30);
    const stops: (() => void)[] = [];
    stream.on('error', () => {});
    stream.on('close', () => {
      this.#streams.delete(stream);
      for (const stop of stops) stop();
    });
    stream.on('end', () => stream.destroy());
    stream.on('data', (chunk: Buffer) => {
      for (const text of framer.push(chunk)) this.#receive(stream, stops, JSON.parse(text) as Message);
    });
  }

  #receive(stream: Duplex, stops: (() => void)[], { id, method, params = [] }: Message): void {
    if (method === undefined) return;
    this.requests.push(method);
    if (this.options.swallow?.(method, params)) return;
    if (id === null) return;
    try {
      const result = this.#answer(stream, stops, method, params);
      if (this.options.dieAfter?.(method, params)) this.disconnect();
      else send(stream, { id, result, error: null });
    } catch (error) {
      send(stream, { id, result: null, error: messageOf(error) });
    }
  }

  #answer(stream: Duplex, stops: (() => void)[], method: string, params: unknown[]): unknown {
    if (!(this.options.methods ?? ALL_METHODS).includes(method)) throw new Error('unknown method');
    if (method === 'echo') return params;
    if (method === 'set_db_change_aware' || method === 'monitor_cancel') return {};
    const database = this.databases.get(String(params[0]));
    if (database === undefined) throw new Error('unknown database');
    if (method === 'get_schema') return this.options.schema?.(database.model.name) ?? schemaJson(database.model);
    if (method === 'transact') return this.#transact(database, params.slice(1) as Operation[]);
    return this.#monitor(stream, stops, database, method, params);
  }

  #transact(database: MemoryDatabase, operations: Operation[]): unknown[] {
    const hasUuid = operations.some((operation) => operation.op === 'insert' && operation.uuid !== undefined);
    if (!this.options.refusesUuids || !hasUuid) return database.transact(operations);
    const details = `Parsing ovsdb operation 1 of ${operations.length} failed: Member 'uuid' is present but not allowed here.`;
    return [{ error: 'syntax error', details }];
  }

  #monitor(
    stream: Duplex,
    stops: (() => void)[],
    database: MemoryDatabase,
    method: string,
    params: unknown[],
  ): unknown {
    const format = method === 'monitor' ? 1 : 2;
    const columns: Columns = new Map(
      Object.entries(params[2] as Record<string, [{ columns: string[] }]>).map(([table, [request]]) => [
        table,
        request.columns,
      ]),
    );
    const since = method === 'monitor_cond_since';
    stops.push(
      database.watch((before, after) => {
        const changes = database.changes(format, columns, before, after);
        if (Object.keys(changes).length === 0) return;
        const notification =
          { monitor: 'update', monitor_cond: 'update2', monitor_cond_since: 'update3' }[method] ?? '';
        const last = since ? [this.#remember(database)] : [];
        send(stream, { id: null, method: notification, params: [params[1], ...last, changes] });
      }),
    );
    const known = since && this.options.remembers ? this.#history.get(String(params[3])) : undefined;
    if (known !== undefined) {
      return [true, this.#remember(database), database.changes(format, columns, known, database.contents)];
    }
    const initial = database.initial(format, columns);
    return since ? [false, this.#remember(database), initial] : initial;
  }

  /** The id of the last transaction, which it is remembered by. */
  #remember({ contents, model, transactions }: MemoryDatabase): string {
    if (!this.options.remembers) return ZERO;
    const id = `${Buffer.from(model.name).toString('hex').padEnd(8, '0').slice(0, 8)}-0000-4000-8000-${String(transactions).padStart(12, '0')}`;
    this.#history.set(id, contents);
    return id;
  }
}

const ZERO = '00000000-0000-0000-0000-000000000000';

const send = (stream: Duplex, message: object): void => {
  if (!stream.destroyed) stream.write(JSON.stringify(message));
};

/** A model as `<database-schema>`: RFC 7047 §3.2. */
export const schemaJson = (model: DatabaseModel): object => ({
  name: model.name,
  version: model.version,
  tables: Object.fromEntries(
    Object.entries(model.tables).map(([table, { columns, indexes, isRoot, maxRows }]) => [
      table,
      {
        indexes,
        isRoot,
        ...(maxRows !== undefined && { maxRows }),
        columns: Object.fromEntries(
          Object.entries(columns).map(([name, { key, value, min, max, ephemeral, immutable }]) => [
            name,
            {
              type: {
                key: base(key),
                ...(value && { value: base(value) }),
                min,
                max: Number.isFinite(max) ? max : 'unlimited',
              },
              ...(ephemeral && { ephemeral }),
              ...(immutable && { mutable: false }),
            },
          ]),
        ),
      },
    ]),
  ),
});

const base = ({ type, refTable, weak }: { type: string; refTable?: string; weak?: true }): object => ({
  type,
  ...(refTable !== undefined && { refTable, refType: weak ? 'weak' : 'strong' }),
});
