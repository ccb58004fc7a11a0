/**
 * Records what a real ovsdb-server sends to a monitor, and plays it to clients: each gets the same bytes, as fast as it
 * reads.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Operation } from '../../ovsdb/index.ts';
import { MessageFramer } from '../../ovsdb/wire/framer.ts';

interface Message {
  readonly id: unknown;
  readonly method?: string;
  readonly params?: readonly unknown[];
  readonly result?: unknown;
}

export interface Recording {
  readonly schema: unknown;
  /** Of the database `_Server`. */
  readonly serverSchema: unknown;
  /** The reply of `monitor_cond_since`. */
  readonly initial: unknown;
  /** The `<table-updates2>` of each update. */
  readonly updates: readonly unknown[];
}

const DATABASE = 'OVN_Northbound';
const MAX_MESSAGE = 1 << 30;

/**
 * @param path the server's socket
 * @param tables what is monitored: all columns of these
 */
export const record = async (
  path: string,
  tables: readonly string[],
  events: readonly (readonly Operation[])[],
): Promise<Recording> => {
  const client = new RawClient(path);
  const schema = await client.request('get_schema', [DATABASE]);
  const serverSchema = await client.request('get_schema', ['_Server']);
  const requests = Object.fromEntries(tables.map((table) => [table, [{ columns: columnsOf(schema, table) }]]));
  const initial = await client.request('monitor_cond_since', [DATABASE, 'recorder', requests, ZERO]);
  // A client that monitors and writes gets an update of each transaction by itself.
  await Promise.all(events.map((operations) => client.request('transact', [DATABASE, ...operations])));
  client.end();
  return { schema, serverSchema, initial, updates: client.notifications.map(({ params }) => params?.[2]) };
};

const ZERO = '00000000-0000-0000-0000-000000000000';

const columnsOf = (schema: unknown, table: string): string[] =>
  Object.keys((schema as { tables: Record<string, { columns: object }> }).tables[table]?.columns ?? {});

class RawClient {
  readonly notifications: Message[] = [];
  readonly #socket: Socket;
  readonly #pending = new Map<unknown, (result: unknown) => void>();
  #nextId = 1;

  constructor(path: string) {
    this.#socket = connect({ path });
    onMessages(this.#socket, (message) => {
      if (message.method === 'echo') this.#send({ id: message.id, result: message.params, error: null });
      else if (message.method !== undefined) this.notifications.push(message);
      else this.#pending.get(message.id)?.(message.result);
    });
  }

  request(method: string, params: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #send(message: object): void {
    this.#socket.write(JSON.stringify(message));
  }
}

/** Serves a recording on a socket. */
export class Player implements AsyncDisposable {
  readonly #server: Server;
  #client: { readonly socket: Socket; readonly monitor: unknown } | undefined;
  readonly #recording: Recording;

  constructor(path: string, recording: Recording) {
    this.#recording = recording;
    this.#server = createServer((socket) => {
      socket.on('error', () => {});
      onMessages(socket, (message) => this.#answer(socket, message));
    }).listen(path);
  }

  async listening(): Promise<void> {
    if (!this.#server.listening) await once(this.#server, 'listening');
  }

  /** Sends all updates to the client that has begun to monitor last. */
  play(): void {
    if (this.#client === undefined) throw new Error('nobody monitors');
    const { socket, monitor } = this.#client;
    const text = this.#recording.updates.map((updates) =>
      JSON.stringify({ id: null, method: 'update3', params: [monitor, ZERO, updates] }),
    );
    socket.write(text.join(''));
  }

  #answer(socket: Socket, { id, method, params = [] }: Message): void {
    const reply = (result: unknown, error: unknown = null): void => {
      socket.write(JSON.stringify({ id, result, error }));
    };
    const [database, monitor] = params;
    if (method === 'echo') reply(params);
    else if (method === 'set_db_change_aware') reply({});
    else if (method === 'get_schema')
      reply(database === DATABASE ? this.#recording.schema : this.#recording.serverSchema);
    else if (method === 'monitor_cond' && database !== DATABASE) reply(SERVER_ROW);
    else if (method === 'monitor_cond_since' && database !== DATABASE) reply([false, ZERO, SERVER_ROW]);
    else if (method === 'monitor_cond_since') {
      this.#client = { socket, monitor };
      reply(this.#recording.initial);
    } else if (method !== undefined) reply(null, 'unknown method');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client?.socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const SERVER_ROW = {
  Database: {
    '36bef046-7da7-43a5-905a-c17899216fcb': {
      initial: { name: DATABASE, model: 'standalone', connected: true, leader: true },
    },
  },
};

const onMessages = (socket: Socket, receive: (message: Message) => void): void => {
  const framer = new MessageFramer(MAX_MESSAGE);
  socket.on('data', (chunk: Buffer) => {
    for (const text of framer.push(chunk)) receive(JSON.parse(text) as Message);
  });
};
