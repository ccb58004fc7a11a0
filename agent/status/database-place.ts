/** A database as a place that can be compared. */
import type { BackendName } from '../../api/agent-status.ts';
import { rowDifferences } from '../../ovsdb/desired/difference.ts';
import type { ClaimedRows } from '../../ovsdb/desired/garbage.ts';
import type { Database, MirroredReplica } from '../databases/database.ts';
import { OWNER_KEY } from '../model/ownership.ts';
import type { Place } from './places.ts';

/** Compares what is mirrored: the mirror is current while there is a connection. */
export const databasePlace = <DB, R extends MirroredReplica>(
  backend: BackendName,
  { desired, replica, reconciler }: Database<DB, R>,
  claimed: ClaimedRows = {},
): Place => ({
  backend,
  *wanted() {
    for (const { key } of desired.rows()) yield key;
  },
  ownersOf: (key) => desired.rowOwners(key),
  problemOf: (key) => {
    for (const owner of desired.rowOwners(key)) {
      const status = reconciler.status(owner);
      if (status.kind !== 'done' && status.message !== undefined) return status.message;
    }
    return undefined;
  },
  unsupported: () => [],
  differences: () =>
    replica.synced
      ? Promise.resolve(rowDifferences({ desired, store: replica.store, ownerKey: OWNER_KEY, claimed }))
      : Promise.reject(new Error('there is no connection to the database')),
});
