import { type Indexes, Replica, type ReplicaOptions, type Selection } from '../replica/replica.ts';
import { ownerIndexes } from './replica-needs.ts';

export interface ManagedReplicaOptions<DB, S extends Selection<DB>>
  extends Omit<ReplicaOptions<DB, S>, 'trackParents'> {
  /** The key in `external_ids` that marks rows of ours. */
  readonly ownerKey: string;
}

/** A replica that can be reconciled, with `ownerIndexes` and everything else that is needed. */
export const managedReplica = <DB, const S extends Selection<DB>>({
  model,
  tables,
  indexes = {},
  ownerKey,
}: ManagedReplicaOptions<DB, S>): Replica<DB, S> => {
  const given = new Map<string, object>(Object.entries(indexes));
  const needed = Object.entries(ownerIndexes(model, tables, ownerKey) as Readonly<Record<string, object>>);
  const all = {
    ...indexes,
    ...Object.fromEntries(needed.map(([table, index]) => [table, { ...given.get(table), ...index }])),
  };
  return new Replica({ model, tables, indexes: all as Indexes<DB, S>, trackParents: true });
};
