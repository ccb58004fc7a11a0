import type { Link } from '../link/types.ts';

/**
 * Whether a link of the node and one of a pod are the ends of one pair. Indexes are per namespace, so they alone would
 * also fit the ends of two different pairs.
 * @param podNetnsid what the node calls the pod's namespace; only asked when all else fits
 */
export const arePaired = (
  host: Link | undefined,
  pod: Link | undefined,
  podNetnsid: () => number | undefined,
): boolean =>
  host?.kind === 'veth' &&
  pod?.kind === 'veth' &&
  host.peer?.index === pod.index &&
  pod.peer?.index === host.index &&
  host.peer.netnsid !== undefined &&
  host.peer.netnsid === podNetnsid();
