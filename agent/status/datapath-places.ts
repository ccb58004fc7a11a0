/** The places of a node that are no databases, for `udnctl diff`. */
import type { HostItem } from '../../datapath/host/types.ts';
import type { NftItem } from '../../datapath/nftables/types.ts';
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import type { NodeDatapath } from '../reconcile/node-datapath.ts';
import { type Comparable, itemPlace } from './item-place.ts';
import type { Place } from './places.ts';

export interface ComparableBackends {
  readonly openflow: Comparable<BridgeItem>;
  readonly host: Comparable<HostItem>;
  readonly nftables: Comparable<NftItem>;
}

export const datapathPlaces = (
  { openflow, host, nftables }: Pick<NodeDatapath, 'openflow' | 'host' | 'nftables'>,
  backends: ComparableBackends,
): readonly Place[] => [
  itemPlace('openflow', openflow, backends.openflow),
  itemPlace('host', host, backends.host),
  itemPlace('nftables', nftables, backends.nftables),
];
