/** Gateway bridges in the Open_vSwitch database, one transaction each. Pure. */
import { type OpenVSwitch, openVSwitch } from '../../../ovsdb/models/open-vswitch.gen.ts';
import type { Operation } from '../../../ovsdb/transact/operation.ts';
import { type NamedUuid, Transaction } from '../../../ovsdb/transact/transaction.ts';
import { formatMoveRecord, MOVE_KEY, type MoveRecord } from './move-record.ts';
import type { SwitchState, UplinkStep } from './types.ts';

export type DatabaseStep = Exclude<UplinkStep, { kind: 'kernel' }>;

/** Names of bridges and ports are unique: what somebody else makes first is refused here, and seen the next time. */
export const bridgeOperations = (step: DatabaseStep, { datapathType, bridges }: SwitchState): readonly Operation[] => {
  const transaction = new Transaction<OpenVSwitch>(openVSwitch);
  switch (step.kind) {
    case 'create':
      createBridge(transaction, step, datapathType);
      break;
    case 'attach':
      attachUplink(transaction, step);
      break;
    case 'record':
      writeRecord(transaction, step.bridge, step.record);
      break;
    case 'delete': {
      // Rows of bridges, ports and interfaces live only as long as something refers to them.
      const gone = bridges.filter(({ name }) => name === step.bridge).map(({ uuid }) => uuid);
      if (gone.length > 0) transaction.mutate('Open_vSwitch', [], 'bridges', 'delete', gone);
      break;
    }
  }
  return transaction.operations;
};

const createBridge = (
  transaction: Transaction<OpenVSwitch>,
  { bridge, uplink, record }: Extract<UplinkStep, { kind: 'create' }>,
  datapathType: string,
): void => {
  const own = transaction.insert('Interface', { name: bridge, type: 'internal' });
  const ports = [transaction.insert('Port', { name: bridge, interfaces: [own] })];
  if (uplink !== undefined) ports.push(uplinkPort(transaction, uplink));
  const row = transaction.insert('Bridge', {
    name: bridge,
    ports,
    datapath_type: datapathType,
    // Without a controller it switches by itself: the node is reachable before, and without, any flow of ours.
    fail_mode: 'standalone',
    other_config: { hwaddr: record.mac },
    external_ids: {
      'bridge-id': bridge,
      ...(uplink === undefined ? {} : { 'bridge-uplink': uplink }),
      ...(record.nic === undefined ? {} : { [MOVE_KEY]: formatMoveRecord(record) }),
    },
  });
  transaction.mutate('Open_vSwitch', [], 'bridges', 'insert', [row]);
};

const attachUplink = (
  transaction: Transaction<OpenVSwitch>,
  { bridge, uplink }: Extract<UplinkStep, { kind: 'attach' }>,
): void => {
  const port = uplinkPort(transaction, uplink);
  transaction.mutate('Bridge', [['name', '==', bridge]], 'ports', 'insert', [port]);
};

/** ovs-ctl(8) takes transient ports away when the node boots: until the agent runs, the NIC is as it was. */
const uplinkPort = (transaction: Transaction<OpenVSwitch>, uplink: string): NamedUuid => {
  const nic = transaction.insert('Interface', { name: uplink });
  return transaction.insert('Port', { name: uplink, interfaces: [nic], other_config: { transient: 'true' } });
};

/** Inserting into a map does not overwrite: the old entry goes first. */
const writeRecord = (transaction: Transaction<OpenVSwitch>, bridge: string, record: MoveRecord): void => {
  transaction.mutate('Bridge', [['name', '==', bridge]], 'external_ids', 'delete', [MOVE_KEY]);
  transaction.mutate('Bridge', [['name', '==', bridge]], 'external_ids', 'insert', {
    [MOVE_KEY]: formatMoveRecord(record),
  });
};
