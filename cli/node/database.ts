/** Connections to the databases of the node. */
import { messageOf } from '../../base/error-message.ts';
import { OvsdbSession } from '../../ovsdb/session/session.ts';
import { parseRemotes } from '../../ovsdb/wire/remote.ts';
import { CliError } from '../errors.ts';
import type { Transact } from '../flows/datapaths.ts';

const CONNECT_MS = 3_000;

export interface LazyDatabase {
  /** Connects before the first transaction. @throws CliError when there is no connection within three seconds */
  readonly transact: Transact;
  close(): Promise<void>;
}

/** A connection that is made when it is needed, so that a command says all it can when a database is away. */
export const lazyDatabase = (database: string, remote: string): LazyDatabase => {
  let connected: Promise<OvsdbSession> | undefined;
  return {
    transact: async (operations) => {
      connected ??= connect(database, remote);
      return (await connected).transact(operations);
    },
    close: async () => {
      const session = await connected?.catch(() => undefined);
      await session?.close();
    },
  };
};

const connect = async (database: string, remote: string): Promise<OvsdbSession> => {
  const session = new OvsdbSession({ database, remotes: parseRemotes(remote) });
  session.start();
  try {
    await session.whenConnected(AbortSignal.timeout(CONNECT_MS));
    return session;
  } catch (error) {
    await session.close();
    throw new CliError(`${database} cannot be reached at ${remote}: ${messageOf(error)}`);
  }
};
