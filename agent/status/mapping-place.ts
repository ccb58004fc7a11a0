/** Our entry of `ovn-bridge-mappings`, which is no row of ours: others write the same value for their networks. */
import { mappedBridge, mergeMappings } from '../uplink/bridge-mappings.ts';
import type { Place } from './places.ts';

export interface MappingSources {
  /** The bridge that our physical network is to be mapped to; undefined: there is no gateway. */
  readonly bridge: () => string | undefined;
  /** `external_ids` of the Open_vSwitch row; undefined while there is no connection. */
  readonly externalIds: () => Readonly<Record<string, string>> | undefined;
}

const NAME = 'ovn-bridge-mappings';
const KEY = `Open_vSwitch/external_ids:${NAME}`;
const OWNERS = ['uplink:'];

export const mappingPlace = ({ bridge, externalIds }: MappingSources): Place => ({
  backend: 'openvswitch',
  wanted: () => (bridge() === undefined ? [] : [KEY]),
  ownersOf: () => OWNERS,
  problemOf: () => undefined,
  unsupported: () => [],
  differences: () => {
    const ids = externalIds();
    if (ids === undefined) return Promise.reject(new Error('there is no connection to the database'));
    const [wanted, actual] = [bridge(), ids[NAME]];
    if (wanted === undefined || mappedBridge(actual) === wanted) return Promise.resolve([]);
    const kind = mappedBridge(actual) === undefined ? 'missing' : 'different';
    return Promise.resolve([{ key: KEY, kind, owners: OWNERS, wanted: mergeMappings(actual, wanted), actual }]);
  },
});
