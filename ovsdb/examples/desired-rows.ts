import { DesiredRows, managedReplica, OvsdbReconciler, OvsdbSession, parseRemotes, rowRef } from '../index.ts';
import { type OvnNorthbound, ovnNorthbound } from '../models/ovn-northbound.gen.ts';

const OWNER_KEY = 'example/key';

/** @param remotes for example `unix:/run/ovn/ovnnb_db.sock` */
export const keepNetwork = async (remotes: string): Promise<void> => {
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: parseRemotes(remotes) });
  const tables = {
    Logical_Switch: ['name', 'ports', 'other_config', 'external_ids'],
    Logical_Switch_Port: ['name', 'addresses', 'external_ids'],
  } as const;
  const replica = managedReplica({ model: ovnNorthbound, tables, ownerKey: OWNER_KEY });
  const desired = new DesiredRows<OvnNorthbound>();
  const reconciler = new OvsdbReconciler({ desired, replica, session, ownerKey: OWNER_KEY });
  session.mirror(replica);
  session.start();
  reconciler.start();

  desired.set('network/blue', {
    rows: [
      {
        table: 'Logical_Switch',
        key: 'switch/blue',
        columns: { name: 'blue', other_config: { subnet: '10.0.0.0/24' } },
      },
    ],
  });
  desired.set('pod/web', {
    rows: [{ table: 'Logical_Switch_Port', key: 'port/web', columns: { name: 'web', addresses: ['dynamic'] } }],
    members: [{ table: 'Logical_Switch', row: 'switch/blue', column: 'ports', value: rowRef('port/web') }],
  });
  reconciler.allowPrune(); // the whole desired state is known now
  await reconciler.whenDone('pod/web', AbortSignal.timeout(10_000));

  await reconciler.stop();
  await session.close();
};
