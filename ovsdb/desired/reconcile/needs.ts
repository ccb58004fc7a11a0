/** What the reconciler needs of a session and a replica. */
import type { OvsdbError } from '../../errors.ts';
import type { ReplicaUpdate } from '../../replica/replica.ts';
import type { RowStore } from '../../replica/row-store.ts';
import type { Operation } from '../../transact/operation.ts';
import type { OperationResult } from '../../transact/outcome.ts';

/** `OvsdbSession` is one. */
export interface ReconcilerSession {
  transact(operations: readonly Operation[]): Promise<OperationResult[]>;
  /** For operations that are text already, see `OvsdbSession`. Without it nothing is loaded in bulk. */
  transactText?(operations: string): Promise<void>;
  reconnect(reason: OvsdbError): void;
}

/** What `managedReplica` makes is one. */
export interface ReconcilerReplica {
  readonly store: RowStore;
  readonly synced: boolean;
  onUpdate(listener: (update: ReplicaUpdate) => void): () => void;
  onSynced(listener: (synced: boolean) => void): () => void;
}
