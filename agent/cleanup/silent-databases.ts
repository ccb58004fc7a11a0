/** Which databases do not answer: what is in them cannot be taken away, and there is no use in waiting for each part. */
import type { Database, DatabaseName, MirroredReplica } from '../databases/database.ts';
import type { CleanupOptions } from '../options/options.ts';

type Reachable = Readonly<
  Record<DatabaseName, { readonly session: Pick<Database<unknown, MirroredReplica>['session'], 'whenConnected'> }>
>;

/** A server on the same machine answers at once. */
const ANSWER_MS = 5_000;

/** A message for each that does not answer. @throws the signal's reason */
export const silentDatabases = async (
  databases: Reachable,
  options: Pick<CleanupOptions, 'ovsRemote' | 'northboundRemote' | 'southboundRemote'>,
  signal: AbortSignal,
  answerMs: number = ANSWER_MS,
): Promise<ReadonlyMap<DatabaseName, string>> => {
  const tooLong = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  const reasons: Readonly<Record<DatabaseName, string>> = {
    openvswitch: `Open vSwitch' database does not answer at ${options.ovsRemote}: is ovsdb-server running?`,
    northbound: `OVN's northbound database does not answer at ${options.northboundRemote}`,
    southbound: `OVN's southbound database does not answer at ${options.southboundRemote}`,
  };
  const silent = await Promise.all(
    NAMES.map(async (name): Promise<[DatabaseName, string][]> => {
      try {
        await databases[name].session.whenConnected(tooLong);
        return [];
      } catch {
        signal.throwIfAborted();
        return [[name, reasons[name]]];
      }
    }),
  );
  return new Map(silent.flat());
};

const NAMES: readonly DatabaseName[] = ['openvswitch', 'northbound', 'southbound'];
