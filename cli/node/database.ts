/** One short connection to a database of the node. */
import { OvsdbSession } from '../../ovsdb/session/session.ts';
import { parseRemotes } from '../../ovsdb/wire/remote.ts';
import { CliError } from '../errors.ts';
import type { Transact } from '../flows/datapaths.ts';

const CONNECT_MS = 3_000;

/** @throws CliError when there is no connection within three seconds */
export const withDatabase = async <Result>(
  database: string,
  remote: string,
  work: (transact: Transact) => Promise<Result>,
): Promise<Result> => {
  const session = new OvsdbSession({ database, remotes: parseRemotes(remote) });
  session.start();
  try {
    await session.whenConnected(AbortSignal.timeout(CONNECT_MS)).catch((error: Error) => {
      throw new CliError(`${database} cannot be reached at ${remote}: ${error.message}`);
    });
    return await work((operations) => session.transact(operations));
  } finally {
    await session.close();
  }
};
