/** The replica of this repository as a client of the benchmark. Prints what it measured, in milliseconds, as JSON. */
import { OvsdbSession, parseRemote, Replica } from '../../ovsdb/index.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';

const main = async ([mode, remote = '', sentinel]: readonly string[]): Promise<void> => {
  const start = performance.now();
  const replica = new Replica({
    model: ovnNorthbound,
    tables: { Logical_Switch: 'all', Logical_Switch_Port: 'all' },
    indexes: { Logical_Switch: { name: ({ name }) => name } },
  });
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [parseRemote(remote)] });
  session.mirror(replica);
  session.start();
  await replica.whenSynced();
  const sync = performance.now() - start;
  const updates = mode === 'updates' ? await measureUpdates(replica, sentinel ?? '') : undefined;
  console.log(
    JSON.stringify({ sync, updates, rows: replica.size('Logical_Switch_Port'), rss: process.memoryUsage().rss }),
  );
  await session.close();
};

type Northbound = Replica<
  typeof ovnNorthbound extends { rowTypes?: infer DB } ? NonNullable<DB> : never,
  { readonly Logical_Switch: 'all'; readonly Logical_Switch_Port: 'all' }
>;

const measureUpdates = async (replica: Northbound, sentinel: string): Promise<number> => {
  let first: number | undefined;
  replica.onUpdate(() => {
    first ??= performance.now();
  });
  console.log('ready');
  await replica.waitFor('Logical_Switch', { index: 'name', key: sentinel }, () => true);
  return performance.now() - (first ?? 0);
};

await main(process.argv.slice(2));
