/** What limits of conntrack zones have to be written into the Open_vSwitch database. Pure. */
import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';

/** A row of CT_Zone, as it is. */
export interface LimitedZone {
  readonly uuid: Uuid;
  readonly limit: number | undefined;
  /** What the agent has written it for; undefined: the row is not the agent's. */
  readonly writtenFor: string | undefined;
}

/** `none`: the northbound row has no limit; `unknown`: there is no such row, or not yet. */
export type WantedLimit = number | 'none' | 'unknown';

export interface ZonesHere {
  /** Numbers of zones, and what they are called after. */
  readonly names: ReadonlyMap<number, string>;
  readonly limitOf: (name: string) => WantedLimit;
  readonly rows: ReadonlyMap<number, LimitedZone>;
}

export type ZoneChange =
  | { readonly kind: 'insert'; readonly zone: number; readonly name: string; readonly limit: number }
  | {
      readonly kind: 'update';
      readonly zone: number;
      readonly name: string;
      readonly limit: number;
      readonly row: Uuid;
    }
  | {
      readonly kind: 'remove';
      readonly zone: number;
      /** ovn-controller still has the zone, of a port or router that OVN has no more, or not again yet. */
      readonly isOrphan?: true;
    };

/** The entry of `external_ids` of a row that this agent has made, or taken over. */
export const ZONE_KEY = 'ovn-udn/zone';

/** Of zones that have a limit, or a row of the agent's. */
export const zoneChanges = ({ names, limitOf, rows }: ZonesHere): ZoneChange[] => {
  const changes: ZoneChange[] = [];
  for (const [zone, name] of names) {
    const change = changeOf(zone, name, limitOf(name), rows.get(zone));
    if (change !== undefined) changes.push(change);
  }
  for (const [zone, { writtenFor }] of rows) {
    if (writtenFor !== undefined && !names.has(zone)) changes.push({ kind: 'remove', zone });
  }
  return changes;
};

const changeOf = (
  zone: number,
  name: string,
  limit: WantedLimit,
  row: LimitedZone | undefined,
): ZoneChange | undefined => {
  if (typeof limit === 'number') {
    if (row === undefined) return { kind: 'insert', zone, name, limit };
    if (row.limit === limit && row.writtenFor !== undefined) return undefined;
    return { kind: 'update', zone, name, limit, row: row.uuid };
  }
  if (row?.writtenFor === undefined) return undefined;
  if (limit === 'none' || row.writtenFor !== name) return { kind: 'remove', zone };
  return { kind: 'remove', zone, isOrphan: true };
};

/** @param datapath the row of Datapath that the integration bridge belongs to @returns of one transaction */
export const zoneOperations = (datapath: Uuid, changes: readonly ZoneChange[]): Operation[] => {
  const rows = changes.flatMap((change): Operation[] => {
    if (change.kind === 'insert') {
      const { limit, name, zone } = change;
      const row = { limit, external_ids: ['map', [[ZONE_KEY, name]]] } as const;
      return [{ op: 'insert', table: 'CT_Zone', 'uuid-name': `zone_${zone}`, row }];
    }
    return change.kind === 'update' ? updated(change.row, change.limit, change.name) : [];
  });
  const gone = changes.flatMap(({ kind, zone }) => (kind === 'remove' ? [zone] : []));
  const added = changes.flatMap(({ kind, zone }) =>
    kind === 'insert' ? [[zone, ['named-uuid', `zone_${zone}`]] as const] : [],
  );
  const mutations = [
    ...(gone.length > 0 ? [['ct_zones', 'delete', ['set', gone]] as const] : []),
    ...(added.length > 0 ? [['ct_zones', 'insert', ['map', added]] as const] : []),
  ];
  if (mutations.length === 0) return rows;
  return [...rows, { op: 'mutate', table: 'Datapath', where: [['_uuid', '==', ['uuid', datapath]]], mutations }];
};

/** Other entries of `external_ids` are whose who made the row. */
const updated = (row: Uuid, limit: number, name: string): Operation[] => {
  const at = { table: 'CT_Zone', where: [['_uuid', '==', ['uuid', row]]] } as const;
  return [
    { op: 'update', ...at, row: { limit } },
    {
      op: 'mutate',
      ...at,
      mutations: [
        ['external_ids', 'delete', ['set', [ZONE_KEY]]],
        ['external_ids', 'insert', ['map', [[ZONE_KEY, name]]]],
      ],
    },
  ];
};
