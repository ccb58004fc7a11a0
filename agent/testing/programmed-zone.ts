/** A zone with a real ovn-northd and the rows that a node of a made-up cluster has. */
import { expect } from 'vitest';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { Database } from '../databases/database.ts';
import { createNorthboundReplica, NORTHBOUND_CLAIMS, type NorthboundReplica } from '../databases/northbound.ts';
import type { TestCluster } from './cluster.ts';
import { type OvnZone, startOvnZone } from './ovn-zone.ts';

export interface ProgrammedZone extends AsyncDisposable {
  readonly zone: OvnZone;
  readonly database: Database<OvnNorthbound, NorthboundReplica>;
  /** Writes what the cluster has rendered since. */
  reconcile(): Promise<void>;
}

/** Northd has computed all when it resolves, and complained of nothing. @param it of node1 */
export const programZone = async (it: TestCluster): Promise<ProgrammedZone> => {
  await using resources = new AsyncDisposableStack();
  const zone = resources.use(await startOvnZone(['chassis-node1']));
  const database = new Database<OvnNorthbound, NorthboundReplica>({
    ...{ name: 'northbound', remote: zone.northboundRemote, replica: createNorthboundReplica() },
    ...{ claimed: NORTHBOUND_CLAIMS, observe: () => {} },
  });
  resources.defer(() => database.close());
  database.connect();
  await database.replica.whenSynced(AbortSignal.timeout(PATIENCE_MS));
  const written = new Set<string>();
  const reconcile = async (): Promise<void> => {
    it.render();
    const { fragments } = it.sinks.northbound;
    for (const owner of written) if (!fragments.has(owner)) database.desired.delete(owner);
    for (const [owner, fragment] of fragments) {
      database.desired.set(owner, fragment);
      written.add(owner);
    }
    database.reconcile();
    await database.reconciler.whenIdle(AbortSignal.timeout(PATIENCE_MS));
  };
  await reconcile();
  await zone.computed(database.session);
  expect(zone.log.filter((line) => /ERR|WARN.*(syntax|parse|match|dhcp)/i.test(line))).toEqual([]);
  const moved = resources.move();
  return { zone, database, reconcile, [Symbol.asyncDispose]: () => moved.disposeAsync() };
};

const PATIENCE_MS = 30_000;
