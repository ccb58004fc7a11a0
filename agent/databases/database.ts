/** One database that the agent keeps as desired: its connection, its mirror and its reconciler. */
import { DesiredRows } from '../../ovsdb/desired/desired-rows.ts';
import type { ClaimedRows } from '../../ovsdb/desired/garbage.ts';
import type { ReconcilerEvent } from '../../ovsdb/desired/reconcile/events.ts';
import type { ReconcilerReplica } from '../../ovsdb/desired/reconcile/needs.ts';
import { OvsdbReconciler } from '../../ovsdb/desired/reconcile/reconciler.ts';
import type { Unsupported } from '../../ovsdb/schema/support.ts';
import type { MonitorSink } from '../../ovsdb/session/monitor-sink.ts';
import { OvsdbSession, type SessionState } from '../../ovsdb/session/session.ts';
import { parseRemotes } from '../../ovsdb/wire/remote.ts';
import { BARE_OWNERS, compareOwners, groupOfOwner } from '../features/owner-order.ts';
import { OWNER_KEY } from '../model/ownership.ts';

export type DatabaseName = 'northbound' | 'southbound' | 'openvswitch';

export type DatabaseObservation =
  | { readonly kind: 'state'; readonly state: SessionState }
  | { readonly kind: 'unsupported'; readonly what: Unsupported }
  | { readonly kind: 'reconciler'; readonly event: ReconcilerEvent };

export interface MirroredReplica extends ReconcilerReplica, MonitorSink {
  onUnsupported(listener: (what: Unsupported) => void): () => void;
  whenSynced(signal?: AbortSignal): Promise<void>;
}

export interface DatabaseOptions<R extends MirroredReplica> {
  readonly name: DatabaseName;
  readonly remote: string;
  readonly replica: R;
  /** See `ReconcilerOptions`. */
  readonly claimed?: ClaimedRows;
  readonly observe: (database: DatabaseName, observation: DatabaseObservation) => void;
}

export class Database<DB, R extends MirroredReplica> {
  readonly name: DatabaseName;
  readonly desired = new DesiredRows<DB>(compareOwners, BARE_OWNERS);
  readonly replica: R;
  readonly session: OvsdbSession;
  readonly reconciler: OvsdbReconciler<DB>;
  #before = (write: () => void): void => write();

  constructor({ name, remote, replica, claimed = {}, observe }: DatabaseOptions<R>) {
    this.name = name;
    this.replica = replica;
    this.session = new OvsdbSession({ database: replica.database, remotes: parseRemotes(remote) });
    this.session.onState((state) => observe(name, { kind: 'state', state }));
    replica.onUnsupported((what) => observe(name, { kind: 'unsupported', what }));
    this.reconciler = new OvsdbReconciler<DB>({
      desired: this.desired,
      replica,
      session: this.session,
      ownerKey: OWNER_KEY,
      claimed,
      groupOf: groupOfOwner,
      schedule: (write) => setImmediate(() => this.#before(write)),
      onEvent: (event) => observe(name, { kind: 'reconciler', event }),
    });
  }

  /** Connects and mirrors. Nothing is written before `reconcile`. */
  connect(): void {
    this.session.mirror(this.replica);
    this.session.start();
  }

  /** Asked before each transaction, to call back when it is time. */
  writeAfter(before: (write: () => void) => void): void {
    this.#before = before;
  }

  /** To be called when the whole desired state is known: from then on what no owner desires is removed. */
  reconcile(): void {
    this.reconciler.start();
    this.reconciler.allowPrune();
  }

  async close(): Promise<void> {
    await this.reconciler.stop();
    await this.session.close();
  }
}
