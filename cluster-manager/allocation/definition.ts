/** Which NAD says what a network is. Pure. */
import { cudnOfNetworkName } from '../../api/names.ts';
import { compareByAge } from '../../api/object.ts';
import type { NadRecord } from './network-records.ts';

/** The oldest of those that were rendered from the network itself, else the oldest of all that may have its name. */
export const definitionOf = (all: readonly NadRecord[]): NadRecord | undefined => {
  const own = all.filter(({ isOwn }) => isOwn);
  const [first, ...others] = own.length === 0 ? all.filter((nad) => !isReserved(nad)) : own;
  return others.reduce(
    (oldest, nad) => (oldest !== undefined && compareByAge(oldest.metadata, nad.metadata) <= 0 ? oldest : nad),
    first,
  );
};

/**
 * Whether only a ClusterUserDefinedNetwork gives the name of the NAD's network: whoever takes it before that network exists would have
 * its pods on it. A NAD that was given the ids, by an earlier version or before it lost its owner, keeps them until the network is
 * rendered.
 */
export const isReserved = ({ isOwn, conf, annotatedNetwork }: NadRecord): boolean =>
  !isOwn && cudnOfNetworkName(conf.name) !== undefined && annotatedNetwork !== conf.name;
