/** The uplink's view of the real Open_vSwitch database and the real kernel. */

import { unicastMacSchema } from '../../../api/scalars.ts';
import type { Netlink } from '../../../datapath/netlink/netlink.ts';
import { FAMILIES } from '../../../net/ip.ts';
import type { Mac } from '../../../net/mac.ts';
import { openVSwitch } from '../../../ovsdb/models/open-vswitch.gen.ts';
import type { OvsdbSession } from '../../../ovsdb/session/session.ts';
import { decodeRow } from '../../../ovsdb/transact/decode-row.ts';
import { INTEGRATION_BRIDGE } from '../../cni/vswitch-operations.ts';
import type { VswitchReplica } from '../../databases/vswitch.ts';
import { mappedBridge } from './bridge-mappings.ts';
import { bridgeOperations } from './bridge-operations.ts';
import { UplinkError } from './errors.ts';
import type { Bridge, SwitchState, UplinkEffects, World } from './types.ts';

export interface UplinkEdges {
  readonly session: Pick<OvsdbSession, 'transact'>;
  readonly replica: VswitchReplica;
  readonly netlink: Pick<Netlink, 'read' | 'apply'>;
}

export const uplinkEffects = ({ session, replica, netlink }: UplinkEdges): UplinkEffects => ({
  observe: async (tables, signal) => {
    await replica.whenSynced(signal);
    const [state, host] = await Promise.all([readSwitch(session, replica, signal), readHost(netlink, tables, signal)]);
    return { switch: state, host };
  },
  readBridges: async (signal) => {
    await replica.whenSynced(signal);
    return (await readSwitch(session, replica, signal)).bridges;
  },
  perform: async (step, world, signal) => {
    if (step.kind !== 'kernel') {
      await session.transact(bridgeOperations(step, world.switch), signal);
      return;
    }
    const [failure] = await netlink.apply({ ops: step.ops }, signal);
    if (failure !== undefined) {
      throw new UplinkError('ERR_UPLINK_KERNEL', failure.error.message, failure.error);
    }
  },
});

const readHost = (
  netlink: Pick<Netlink, 'read'>,
  tables: ReadonlySet<number> | 'all',
  signal: AbortSignal,
): Promise<World['host']> => {
  const filters = tables === 'all' ? [{}] : [...tables].map((table) => ({ table }));
  const routes = FAMILIES.flatMap((family) => filters.map((filter) => ({ family, ...filter })));
  return netlink.read({ links: true, addresses: true, routes }, signal);
};

/**
 * Bridges are read again and not mirrored: ovn-controller writes into `external_ids` of the integration bridge for every
 * port, so a mirror would be notified of each.
 */
const readSwitch = async (
  session: Pick<OvsdbSession, 'transact'>,
  replica: VswitchReplica,
  signal: AbortSignal,
): Promise<SwitchState> => {
  const [result] = await session.transact(
    [
      {
        op: 'select',
        table: 'Bridge',
        where: [['name', '!=', INTEGRATION_BRIDGE]],
        columns: ['_uuid', 'name', 'external_ids', 'other_config', 'ports'],
      },
    ],
    signal,
  );
  const bridges = (result?.rows ?? []).flatMap((wire): Bridge[] => {
    const row = decodeRow(openVSwitch, 'Bridge', wire);
    const { _uuid: uuid, name, external_ids: externalIds = {}, other_config: config = {}, ports = [] } = row;
    if (uuid === undefined || name === undefined) return [];
    const mac = configuredMac(config['hwaddr']);
    return [{ uuid, name, externalIds, mac, ports: ports.flatMap((port) => portOf(replica, port)) }];
  });
  const [row] = replica.rows('Open_vSwitch');
  const ids = row?.external_ids ?? {};
  return {
    bridges,
    datapathType:
      ids['ovn-bridge-datapath-type'] ?? replica.findOne('Bridge', 'name', INTEGRATION_BRIDGE)?.datapath_type ?? '',
    mapped: mappedBridge(ids['ovn-bridge-mappings']),
  };
};

/** What is none ovs-vswitchd passes over, too. */
const configuredMac = (text: string | undefined): Mac | undefined => {
  const { data } = unicastMacSchema.safeParse(text);
  return data;
};

const portOf = (replica: VswitchReplica, uuid: Bridge['uuid']): Bridge['ports'] => {
  const port = replica.get('Port', uuid);
  if (port === undefined) return [];
  return [{ name: port.name, types: port.interfaces.flatMap((one) => replica.get('Interface', one)?.type ?? []) }];
};
