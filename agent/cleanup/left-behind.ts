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
 */
export const removeChassis = async (
  session: Pick<OvsdbSession, 'transact'>,
  vswitch: Pick<VswitchReplica, 'rows'>,
  signal: AbortSignal,
): Promise<void> => {
  const [row] = vswitch.rows('Open_vSwitch');
  const name = row?.external_ids['system-id'];
  if (name === undefined) return;
  if (row?.external_ids['ovn-remote'] !== undefined) throw new Error('ovn-controller still has its database');
  await session.transact(
    ['Chassis', 'Chassis_Private'].map((table) => ({ op: 'delete', table, where: [['name', '==', name]] }) as const),
    signal,
  );
};
