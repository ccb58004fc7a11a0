import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type OvnNorthbound, ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { OvsdbSession } from '../../session/session.ts';
import { memorySession, wholeReplica } from '../../testing/memory/client.ts';
import { MemoryDatabase } from '../../testing/memory/database.ts';
import { MemoryServer } from '../../testing/memory/server.ts';
import {
  type Disturbance,
  disturb,
  disturbances,
  FOREIGN_ROWS,
  type Fragments,
  fragments,
  OWNER_KEY,
  type SeenRow,
} from '../convergence.suite.ts';
import { DesiredRows } from '../desired-rows.ts';
import { adoptionsOf, CLAIMED, expectFulfilled, expectUntouched, foreignRows } from '../fulfilment.suite.ts';
import { garbageUnits } from '../garbage.ts';
import { ActualRows } from '../plan/actual-rows.ts';
import { plan } from '../plan/plan.ts';
import { OvsdbReconciler } from './reconciler.ts';
import { whenSettled } from './world.suite.ts';

/** Where the connection is lost while something is written. */
const FAULTS = ['none', 'idle', 'before', 'after', 'twice'] as const;

interface Step {
  readonly wishes: Fragments;
  readonly harm: readonly Disturbance[];
  readonly fault: (typeof FAULTS)[number];
  /** The next step does not wait until this one has come to anything. */
  readonly hurried: boolean;
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ wishes: fragments, harm: disturbances, fault: fc.constantFrom(...FAULTS), hurried: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
);

/** A reconciler with everything that it needs. */
class Instance implements AsyncDisposable {
  readonly session: OvsdbSession;
  readonly replica = wholeReplica(ovnNorthbound, OWNER_KEY);
  readonly desired = new DesiredRows<OvnNorthbound>();
  readonly reconciler: OvsdbReconciler<OvnNorthbound>;

  constructor(server: MemoryServer, bulkFrom: number) {
    this.session = memorySession(server, 'OVN_Northbound');
    this.reconciler = new OvsdbReconciler<OvnNorthbound>({
      desired: this.desired,
      replica: this.replica,
      session: this.session,
      ownerKey: OWNER_KEY,
      claimed: CLAIMED,
      maxOperations: 5,
      bulkFrom,
      maxRepairs: Number.POSITIVE_INFINITY,
      retry: { minMs: 1, maxMs: 4 },
    });
  }

  async start(): Promise<void> {
    this.session.mirror(this.replica);
    this.session.start();
    await this.replica.whenSynced();
    this.reconciler.start();
    this.reconciler.allowPrune();
  }

  want(wishes: Fragments): void {
    for (const owner of [...this.desired.owners()]) if (!wishes.has(owner)) this.desired.delete(owner);
    for (const [owner, fragment] of wishes) this.desired.set(owner, fragment);
  }

  /** What the replica has not seen yet is done by nobody but a reconciler. */
  async settle(): Promise<void> {
    await this.replica.whenSynced();
    await this.session.transact([]).catch(() => {});
    await this.replica.whenSynced();
    await whenSettled(this.reconciler);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reconciler.stop();
    await this.session.close();
  }
}

/** A server that dies now and then, instances that all want the same, and somebody else who writes. */
class World implements AsyncDisposable {
  readonly database = new MemoryDatabase(ovnNorthbound);
  readonly server = new MemoryServer([this.database]);
  readonly instances: readonly Instance[];
  readonly #remembers: boolean;

  /**
   * @param remembers whether a replica is told only what it has not seen yet when it is connected again
   * @param isEmpty whether what is wanted first is loaded in bulk, as there is nothing yet
   */
  constructor(remembers: boolean, instances: number, isEmpty: boolean) {
    this.#remembers = remembers;
    this.database.transact(isEmpty ? FOREIGN_ROWS.slice(0, 1) : FOREIGN_ROWS);
    this.heal();
    const bulkFrom = isEmpty ? 1 : Number.POSITIVE_INFINITY;
    this.instances = Array.from({ length: instances }, () => new Instance(this.server, bulkFrom));
  }

  /** The reconcilers start before anything is wanted, or with the wishes of the first step, and with what befalls it. */
  async start([first]: readonly Step[], isEmpty: boolean): Promise<void> {
    if (isEmpty && first !== undefined) {
      this.#break(first.fault);
      for (const instance of this.instances) instance.want(first.wishes);
    }
    for (const instance of this.instances) await instance.start();
  }

  heal(): void {
    this.server.options = { remembers: this.#remembers };
  }

  rows(): SeenRow[] {
    return Object.keys(ovnNorthbound.tables).flatMap((table) =>
      this.database.rows(table).map(({ _uuid: uuid, ...columns }) => ({ table, uuid, columns })),
    );
  }

  /** Does a step; the result is what is not ours after it. */
  async take({ wishes, harm, fault, hurried }: Step): Promise<SeenRow[]> {
    this.#break(fault);
    for (const instance of this.instances) instance.want(wishes);
    for (const it of harm) {
      this.database.transact(disturb(it, this.rows()));
      await new Promise(setImmediate);
    }
    const foreign = foreignRows(this.rows());
    if (!hurried) await this.settle();
    return foreign;
  }

  /** Until nobody has written anything any more because of what another has. */
  async settle(): Promise<void> {
    for (let before = -1; before !== this.database.transactions; ) {
      before = this.database.transactions;
      for (const instance of this.instances) await instance.settle();
    }
  }

  #break(fault: Step['fault']): void {
    let left = fault === 'twice' ? 2 : 1;
    const dies = (method: string): boolean => method === 'transact' && left-- > 0;
    const dieBefore = (method: string): boolean => {
      if (!dies(method)) return false;
      this.server.disconnect();
      return true;
    };
    this.server.options = {
      remembers: this.#remembers,
      ...(fault === 'before' && { swallow: dieBefore }),
      ...((fault === 'after' || fault === 'twice') && { dieAfter: dies }),
    };
    if (fault === 'idle') this.server.disconnect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const instance of this.instances) await instance[Symbol.asyncDispose]();
  }
}

it('comes to exactly what is wanted, whenever the connection is lost and whatever others do', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.boolean(),
      fc.constantFrom(1, 2),
      fc.boolean(),
      async (all, remembers, instances, isEmpty) => {
        await using world = new World(remembers, instances, isEmpty);
        await world.start(all, isEmpty);
        let foreign: SeenRow[] = [];
        for (const step of all) foreign = await world.take(step);
        world.heal();
        await world.settle();
        for (const { desired: wishes, replica } of world.instances) {
          const desired = wishes as unknown as DesiredRows;
          const adoptions = adoptionsOf(world.rows());
          const actual = new ActualRows({ store: replica.store, ownerKey: OWNER_KEY, adoptions });
          const units = [...desired.units(), ...garbageUnits(desired, actual, CLAIMED)];
          const left = plan({ desired, actual, units });
          expect(left.operations).toEqual([]);
          expectFulfilled(desired, world.rows(), left.outcomes);
        }
        expectUntouched(foreign, world.rows());
      },
    ),
    { numRuns: 70 },
  );
}, 120_000);
