/** Which MAC addresses the routers of this zone know of their neighbours, as ovn-controller writes them down. */
import { type OvnSouthbound, ovnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import { Replica } from '../../ovsdb/replica/replica.ts';

/** Without `timestamp`, which changes while a neighbour is used. */
const TABLES = { MAC_Binding: ['ip', 'logical_port', 'mac'] } as const;

export const BY_ADDRESS = 'by address';
export const BY_PORT = 'by port';

export type NeighbourReplica = Replica<OvnSouthbound, typeof TABLES>;

/** Apart from the replica of what is kept as desired: no owner desires rows of this table but ovn-controller. */
export const createNeighbourReplica = (): NeighbourReplica =>
  new Replica<OvnSouthbound, typeof TABLES>({
    model: ovnSouthbound,
    tables: TABLES,
    indexes: {
      MAC_Binding: { [BY_ADDRESS]: ({ ip }) => ip, [BY_PORT]: ({ logical_port: port }) => port },
    },
  });
