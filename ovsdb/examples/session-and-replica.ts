import { OvsdbSession, parseRemotes, Replica, Transaction } from '../index.ts';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';

/** @param remotes for example `unix:/run/ovn/ovnnb_db.sock` */
export const addPort = async (remotes: string, print: (text: string) => void): Promise<void> => {
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: parseRemotes(remotes) });
  const replica = new Replica({
    model: ovnNorthbound,
    tables: { Logical_Switch: ['name', 'ports', 'external_ids'], Logical_Switch_Port: 'all' },
    indexes: { Logical_Switch: { network: ({ external_ids }) => external_ids['k8s.ovn.org/network'] } },
  });
  replica.onUpdate(({ changes }) => print(`${changes.length} rows differ`));
  session.mirror(replica);
  session.start();
  await replica.whenSynced(AbortSignal.timeout(10_000));

  const transaction = new Transaction(ovnNorthbound, session.schema);
  const port = transaction.insert('Logical_Switch_Port', { name: 'pod1', addresses: ['dynamic'] });
  transaction.mutate('Logical_Switch', [['name', '==', 'node1']], 'ports', 'insert', [port]);
  await session.transact(transaction.operations);

  // Resolves by the event that brings it, not by looking again and again.
  await replica.waitFor('Logical_Switch_Port', { index: 'name', key: 'pod1' }, ({ addresses }) => addresses.length > 0);

  for (const { name } of replica.find('Logical_Switch', 'network', 'blue')) print(name);
  await session.close();
};
