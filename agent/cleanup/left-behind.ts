/** What an agent and ovn-controller leave behind that nobody else takes away. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import type { OvsdbSession } from '../../ovsdb/session/session.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import { CT_ZONES } from '../model/registry/marks.ts';
import type { CleanupOptions } from '../options/options.ts';
import { serverFile } from '../wiring/api-server.ts';

/** Sockets of an agent that was killed, as one that ends by itself removes them, and the address that it has published. */
export const removeSockets = async ({
  cniSocket,
  statusSocket,
}: Pick<CleanupOptions, 'cniSocket' | 'statusSocket'>): Promise<void> => {
  await Promise.all([cniSocket, statusSocket].map((path) => rm(path, { force: true })));
  await rm(dirname(serverFile(statusSocket)), { force: true, recursive: true });
};

/** The gateway bridge's zones, and what pods and networks have opened by the node's own stack. */
export const forgetConnections = async (
  conntrack: Pick<Conntrack, 'flushZone' | 'flushSubnet'>,
  { clusterSubnets, masqueradeSubnets }: CleanupOptions['cluster'],
  signal: AbortSignal,
): Promise<void> => {
  // The kernel's first: it answers even if Open vSwitch does not.
  for (const subnet of [...masqueradeSubnets, ...clusterSubnets.map(({ cidr }) => cidr)]) {
    if (!(await conntrack.flushSubnet(subnet, signal))) break;
  }
  for (const zone of Object.values(CT_ZONES)) await conntrack.flushZone(zone, signal);
};

/**
 * ovn-controller removes its own row only when it exits, ovn-controller(8); one that has lost its database just leaves it.
 * To be called when ovn-controller is configured without a database, else the row would be there again at once.
 * @throws Error that names rows of other names: the node's own of before its system-id was changed or removed, and never taken by mistake
 */
export const removeChassis = async (
  session: Pick<OvsdbSession, 'transact'>,
  vswitch: Pick<VswitchReplica, 'rows'>,
  signal: AbortSignal,
): Promise<void> => {
  const [row] = vswitch.rows('Open_vSwitch');
  const name = row?.external_ids['system-id'];
  if (row?.external_ids['ovn-remote'] !== undefined) throw new Error('ovn-controller still has its database');
  const removals =
    name === undefined ? [] : TABLES.map((table) => ({ op: 'delete', table, where: [['name', '==', name]] }) as const);
  const left = { op: 'select', table: 'Chassis_Private', where: [], columns: ['name'] } as const;
  const names = (await session.transact([...removals, left], signal)).at(-1)?.rows?.map((one) => String(one['name']));
  if (names === undefined || names.length === 0) return;
  const commands = names.map((one) => `ovn-sbctl chassis-del ${one}`).join('; ');
  const why = name === undefined ? 'Open vSwitch has no system-id' : `the system-id of Open vSwitch is now ${name}`;
  throw new Error(`${why}, and the node is registered as ${names.join(', ')}: ${commands}`);
};

const TABLES = ['Chassis', 'Chassis_Private'] as const;
