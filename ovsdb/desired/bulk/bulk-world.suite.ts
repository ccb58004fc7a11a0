/** A reconciler that begins with an empty database, for tests of the bulk load. */
import type { OvnNorthbound } from '../../models/ovn-northbound.gen.ts';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { OvsdbSession } from '../../session/session.ts';
import { memorySession, wholeReplica } from '../../testing/memory/client.ts';
import { MemoryDatabase } from '../../testing/memory/database.ts';
import { MemoryServer } from '../../testing/memory/server.ts';
import type { Operation } from '../../transact/operation.ts';
import type { Fragments } from '../convergence.suite.ts';
import { DesiredRows } from '../desired-rows.ts';
import { CLAIMED } from '../fulfilment.suite.ts';
import type { ReconcilerEvent } from '../reconcile/events.ts';
import type { ReconcilerSession } from '../reconcile/needs.ts';
import type { ReconcilerOptions } from '../reconcile/options.ts';
import { OvsdbReconciler } from '../reconcile/reconciler.ts';
import { KEY } from '../reconcile/world.suite.ts';

export interface BulkWorldOptions extends Partial<ReconcilerOptions<OvnNorthbound>> {
  readonly wrap?: (session: OvsdbSession, server: MemoryServer) => ReconcilerSession;
}

export class BulkWorld implements AsyncDisposable {
  readonly database = new MemoryDatabase(ovnNorthbound);
  readonly server = new MemoryServer([this.database]);
  readonly session = memorySession(this.server, 'OVN_Northbound');
  readonly replica = wholeReplica(ovnNorthbound, KEY);
  readonly desired: DesiredRows<OvnNorthbound>;
  readonly events: ReconcilerEvent[] = [];
  readonly reconciler: OvsdbReconciler<OvnNorthbound>;

  constructor({ wrap = (session) => session, desired = new DesiredRows(), ...options }: BulkWorldOptions = {}) {
    this.desired = desired;
    this.database.transact([{ op: 'insert', table: 'NB_Global', row: {} }]);
    this.reconciler = new OvsdbReconciler<OvnNorthbound>({
      desired: this.desired,
      replica: this.replica,
      session: wrap(this.session, this.server),
      ownerKey: KEY,
      claimed: CLAIMED,
      bulkFrom: 1,
      retry: { minMs: 1, maxMs: 4 },
      onEvent: (event) => this.events.push(event),
      ...options,
    });
  }

  want(wishes: Fragments): this {
    for (const [owner, fragment] of wishes) this.desired.set(owner, fragment);
    return this;
  }

  /** The reconciler is started as an agent does it: when the whole desired state is known. */
  async start(): Promise<this> {
    this.session.mirror(this.replica);
    this.session.start();
    await this.replica.whenSynced();
    this.reconciler.start();
    this.reconciler.allowPrune();
    return this;
  }

  /** Rows by table without their uuids: what refers to a row has its mark, or its name, instead. Sets are sorted. */
  rows(): Record<string, string[]> {
    const names = new Map<unknown, string>();
    for (const table of Object.keys(ovnNorthbound.tables)) {
      for (const { _uuid, external_ids: ids, name } of this.database.rows(table)) {
        const mark = (ids as Record<string, string> | undefined)?.[KEY];
        names.set(_uuid, `${table} ${mark ?? String(name)}`);
      }
    }
    const named = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(named).sort();
      if (typeof value === 'object' && value !== null) return sorted(Object.entries(value));
      return names.get(value) ?? value;
    };
    const rowText = ({ _uuid, ...row }: object & { readonly _uuid: string }): string =>
      sorted(Object.entries(row).map(([name, value]) => [name, named(value)])).join();
    return Object.fromEntries(
      Object.keys(ovnNorthbound.tables).map((table) => [table, this.database.rows(table).map(rowText).sort()]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reconciler.stop();
    await this.session.close();
  }
}

const sorted = (entries: readonly unknown[]): string[] => entries.map((entry) => JSON.stringify(entry)).sort();

/** The operations of what a session was given as text. */
export const operationsOf = (text: string): Operation[] => JSON.parse(`[${text}]`) as Operation[];
