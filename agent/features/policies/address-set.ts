import type { DesiredRow } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { addressSetKey } from '../../model/row-keys.ts';

/** With these addresses and those that others add as members. */
export const addressSet = (
  name: string,
  externalIds: Readonly<Record<string, string>>,
  addresses: readonly string[] = [],
): DesiredRow<OvnNorthbound, 'Address_Set'> => ({
  table: 'Address_Set',
  key: addressSetKey(name),
  columns: { name, addresses, external_ids: externalIds },
});
