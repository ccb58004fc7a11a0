/** The logical datapaths of a network and their keys, which the flows of br-int match on. */

import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { OperationResult } from '../../ovsdb/transact/outcome.ts';
import { mapOf, type Row, uuidOf } from '../node/wire-values.ts';

export interface Datapath {
  /** Of the switch or router. */
  readonly name: string;
  readonly kind: 'switch' | 'router';
  readonly key: number;
}

/** Runs a transaction of one database. */
export type Transact = (operations: readonly Operation[]) => Promise<readonly OperationResult[]>;

/** Names of all logical datapaths by key. */
export const allDatapaths = async (
  southbound: Transact,
): Promise<ReadonlyMap<number, Pick<Datapath, 'kind' | 'name'>>> => {
  const [bindings] = await southbound([
    { op: 'select', table: 'Datapath_Binding', where: [], columns: ['tunnel_key', 'external_ids'] },
  ]);
  return new Map(
    (bindings?.rows ?? []).map((row) => {
      const ids = mapOf(row['external_ids']);
      const kind = ids.has('logical-router') ? 'router' : 'switch';
      return [Number(row['tunnel_key']), { kind, name: ids.get('name') ?? '' }] as const;
    }),
  );
};

/** @param network its name, `default` for the default network */
export const datapathsOf = async (network: string, northbound: Transact, southbound: Transact): Promise<Datapath[]> => {
  const [switches, routers] = await northbound([
    { op: 'select', table: 'Logical_Switch', where: [], columns: ['_uuid', 'name', 'external_ids'] },
    { op: 'select', table: 'Logical_Router', where: [], columns: ['_uuid', 'name', 'external_ids'] },
  ]);
  const [bindings] = await southbound([
    { op: 'select', table: 'Datapath_Binding', where: [], columns: ['tunnel_key', 'external_ids'] },
  ]);
  const keys = keysByLogicalRow(bindings?.rows ?? []);
  const find = (kind: Datapath['kind'], rows: readonly Row[] = []): Datapath[] =>
    rows
      .filter((row) => networkOfRow(row) === network)
      .flatMap((row) => {
        const key = keys.get(uuidOf(row['_uuid']));
        return key === undefined ? [] : [{ name: String(row['name']), kind, key }];
      });
  return [...find('router', routers?.rows), ...find('switch', switches?.rows)].sort((a, b) => a.key - b.key);
};

/** Rows of the default network have no network in their ids. */
const networkOfRow = (row: Row): string => mapOf(row['external_ids']).get('k8s.ovn.org/network') ?? 'default';

const keysByLogicalRow = (bindings: readonly Row[]): Map<string, number> =>
  new Map(
    bindings.flatMap((row): [string, number][] => {
      const ids = mapOf(row['external_ids']);
      const logical = ids.get('logical-switch') ?? ids.get('logical-router');
      return logical === undefined ? [] : [[logical, Number(row['tunnel_key'])]];
    }),
  );
