/** Our entry of `ovn-bridge-mappings`, which is no row of ours: others write the same value for their networks. */
import type { Comparable } from '../../../base/reconciler.ts';
import { mappedBridge, mergeMappings } from './bridge-mappings.ts';

export interface MappingSources {
  /** The bridge that our physical network is to be mapped to; undefined: there is no gateway. */
  readonly bridge: () => string | undefined;
  /** `external_ids` of the Open_vSwitch row; undefined while there is no connection. */
  readonly externalIds: () => Readonly<Record<string, string>> | undefined;
}

const NAME = 'ovn-bridge-mappings';
const KEY = `Open_vSwitch/external_ids:${NAME}`;
const OWNERS = ['uplink:'];

export const comparableMapping = ({ bridge, externalIds }: MappingSources): Comparable => ({
  desired: () => (bridge() === undefined ? [] : [{ key: KEY, owners: OWNERS }]),
  differences: () => {
    const ids = externalIds();
    if (ids === undefined) throw new Error('the database is not connected');
    const [desiredBridge, actual] = [bridge(), ids[NAME]];
    if (desiredBridge === undefined || mappedBridge(actual) === desiredBridge) return [];
    const kind = mappedBridge(actual) === undefined ? 'missing' : 'different';
    return [{ key: KEY, kind, owners: OWNERS, desired: mergeMappings(actual, desiredBridge), actual }];
  },
});
