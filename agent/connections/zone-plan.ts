/** What limits of conntrack zones have to be written into the Open_vSwitch database. Pure. */
import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';

/** A row of CT_Zone, as it is. */
export interface LimitedZone {
  readonly uuid: Uuid;
  readonly limit: number | undefined;
  readonly isOurs: boolean;
}

export interface ZonesHere {
  /** The row of Datapath that the integration bridge belongs to. */
  readonly datapath: Uuid;
  /** Numbers of zones, and what they are called after. */
  readonly names: ReadonlyMap<number, string>;
  /** Undefined: none of ours. */
  readonly limitOf: (name: string) => number | undefined;
  readonly rows: ReadonlyMap<number, LimitedZone>;
}

/** The entry of `external_ids` of a row that this agent has made, or taken over. */
export const ZONE_KEY = 'ovn-udn/zone';

/** @returns nothing when all is as it should be; otherwise one transaction */
export const zoneOperations = ({ datapath, names, limitOf, rows }: ZonesHere): Operation[] => {
  const operations: Operation[] = [];
  const added: (readonly [number, readonly ['named-uuid', string]])[] = [];
  for (const [zone, name] of names) {
    const limit = limitOf(name);
    const row = rows.get(zone);
    if (limit === undefined || (row?.limit === limit && row.isOurs)) continue;
    const values = { limit, external_ids: ['map', [[ZONE_KEY, name]]] } as const;
    if (row !== undefined) {
      operations.push({ op: 'update', table: 'CT_Zone', where: [['_uuid', '==', ['uuid', row.uuid]]], row: values });
      continue;
    }
    operations.push({ op: 'insert', table: 'CT_Zone', 'uuid-name': `zone_${zone}`, row: values });
    added.push([zone, ['named-uuid', `zone_${zone}`]]);
  }
  const gone = [...rows].filter(([zone, { isOurs }]) => isOurs && !isLimited(names.get(zone), limitOf));
  const mutations = [
    // A key that is there is not overwritten by an insert, so that zones with a row are never among the added ones.
    ...(gone.length > 0 ? [['ct_zones', 'delete', ['set', gone.map(([zone]) => zone)]] as const] : []),
    ...(added.length > 0 ? [['ct_zones', 'insert', ['map', added]] as const] : []),
  ];
  if (mutations.length === 0) return operations;
  return [...operations, { op: 'mutate', table: 'Datapath', where: [['_uuid', '==', ['uuid', datapath]]], mutations }];
};

const isLimited = (name: string | undefined, limitOf: ZonesHere['limitOf']): boolean =>
  name !== undefined && limitOf(name) !== undefined;
