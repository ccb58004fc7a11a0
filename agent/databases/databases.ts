/** The three databases of a node. */
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { OvnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import type { AgentOptions } from '../options/options.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { createNeighbourReplica, type NeighbourReplica } from './neighbours.ts';
import { createNorthboundReplica, NORTHBOUND_CLAIMS, type NorthboundReplica } from './northbound.ts';
import { createSouthboundReplica, type SouthboundReplica } from './southbound.ts';
import { createVswitchReplica, type VswitchReplica } from './vswitch.ts';
import { createZoneReplica, type ZoneReplica } from './zones.ts';

export interface Databases {
  readonly northbound: Database<OvnNorthbound, NorthboundReplica>;
  readonly southbound: Database<OvnSouthbound, SouthboundReplica>;
  readonly openvswitch: Database<OpenVSwitch, VswitchReplica>;
  /** Of the southbound database, too. */
  readonly neighbours: NeighbourReplica;
  /** Of the Open_vSwitch database, too. */
  readonly zones: ZoneReplica;
  connect(): void;
  reconcile(): void;
  close(): Promise<void>;
}

type Remotes = Pick<AgentOptions, 'northboundRemote' | 'southboundRemote' | 'ovsRemote'>;
type Observe = DatabaseOptions<VswitchReplica>['observe'];

export const createDatabases = (remotes: Remotes, observe: Observe): Databases => {
  const northbound = new Database<OvnNorthbound, NorthboundReplica>({
    name: 'northbound',
    remote: remotes.northboundRemote,
    replica: createNorthboundReplica(),
    claimed: NORTHBOUND_CLAIMS,
    observe,
  });
  const southbound = new Database<OvnSouthbound, SouthboundReplica>({
    name: 'southbound',
    remote: remotes.southboundRemote,
    replica: createSouthboundReplica(),
    observe,
  });
  const openvswitch = new Database<OpenVSwitch, VswitchReplica>({
    name: 'openvswitch',
    remote: remotes.ovsRemote,
    replica: createVswitchReplica(),
    observe,
  });
  const neighbours = createNeighbourReplica();
  southbound.session.mirror(neighbours);
  const zones = createZoneReplica();
  openvswitch.session.mirror(zones);
  const all = [northbound, southbound, openvswitch];
  return {
    northbound,
    southbound,
    openvswitch,
    neighbours,
    zones,
    connect: () => {
      for (const database of all) database.connect();
    },
    reconcile: () => {
      for (const database of all) database.reconcile();
    },
    close: async () => {
      await Promise.all(all.map((database) => database.close()));
    },
  };
};
