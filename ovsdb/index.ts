/** A client of OVSDB servers: RFC 7047 and the extensions of ovsdb-server(7). See README.md. */

export type { BackoffOptions } from '../base/backoff.ts';
export type { Reconciler, Status } from '../base/reconciler.ts';
export type { MapValue, Scalar, SetValue, Value } from './codec/value.ts';
export { type DesiredChange, DesiredRows } from './desired/desired-rows.ts';
export { type ClaimedRows, garbageUnits } from './desired/garbage.ts';
export { type ManagedReplicaOptions, managedReplica } from './desired/managed-replica.ts';
export { ActualRows, type ActualRowsOptions, Adoptions } from './desired/plan/actual-rows.ts';
export type { PlanInput } from './desired/plan/input.ts';
export type { Held, HeldCode, UnitOutcome } from './desired/plan/outcome.ts';
export { type FoundRow, type Plan, plan } from './desired/plan/plan.ts';
export type { ReconcilerCounts, ReconcilerEvent } from './desired/reconcile/events.ts';
export type { ReconcilerReplica, ReconcilerSession } from './desired/reconcile/needs.ts';
export type { ReconcilerOptions } from './desired/reconcile/options.ts';
export { OvsdbReconciler } from './desired/reconcile/reconciler.ts';
export type { StatusEvent } from './desired/reconcile/status.ts';
export { ownerIndexes } from './desired/replica-needs.ts';
export * from './desired/types.ts';
export { type Unit, unitId } from './desired/unit.ts';
export * from './errors.ts';
export { elementChange, elementsOf } from './replica/element-change.ts';
export {
  type Indexes,
  Replica,
  type ReplicaOptions,
  type ReplicaUpdate,
  type SelectedRow,
  type Selection,
} from './replica/replica.ts';
export type { AnyRow, ElementChange, RowChange } from './replica/row.ts';
export { indexKey } from './replica/row-index.ts';
export type { RowStore } from './replica/row-store.ts';
export type { RowAddress } from './replica/waiters.ts';
export type { AtomType, Base, Column } from './schema/column.ts';
export type { DatabaseModel, TableModel, TableName, Tables } from './schema/model.ts';
export { parseSchema } from './schema/parse.ts';
export type { Unsupported } from './schema/support.ts';
export { OvsdbSession, type SessionOptions, type SessionState } from './session/session.ts';
export { decodeRow } from './transact/decode-row.ts';
export type * from './transact/operation.ts';
export type { OperationResult } from './transact/outcome.ts';
export { NamedUuid, type RowValues, type Test, Transaction, type Where } from './transact/transaction.ts';
export { isUuid, type Uuid } from './uuid.ts';
export type { Dial, DialOptions, TlsCredentials } from './wire/dial.ts';
export type { WireAtom, WireMap, WireRow, WireValue } from './wire/notation.ts';
export { formatRemote, parseRemote, parseRemotes, type Remote } from './wire/remote.ts';
