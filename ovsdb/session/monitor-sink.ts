import type { UpdateFormat } from '../replica/updates.ts';
import type { DatabaseModel } from '../schema/model.ts';

/** `<monitor-requests>` of RFC 7047 §4.1.5: table → columns. */
export type MonitorRequests = Readonly<Record<string, readonly [{ readonly columns: readonly string[] }]>>;

/** What a session keeps current. The session calls `prepare` once per connection, then `replace` or `apply`. */
export interface MonitorSink {
  readonly database: string;
  /** What to ask of a server with this schema. */
  prepare(server: DatabaseModel): MonitorRequests;
  /** The last transaction that is in the sink; asked after `prepare`. */
  readonly lastTransactionId: string;
  /** The server's whole contents. */
  replace(format: UpdateFormat, updates: unknown, transactionId?: string): void;
  /** What changed since the last call; `resumed` when this makes the sink current after a reconnect. */
  apply(format: UpdateFormat, updates: unknown, transactionId?: string, resumed?: boolean): void;
  /** The connection is gone: what the sink has may be out of date. */
  disconnected(): void;
}
