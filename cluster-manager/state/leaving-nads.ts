/** Whether a NAD is there only as long as pods use it: nothing more is given out by it. Pure. */
import { matchesSelector } from '../../api/label-selector.ts';
import { nadOwner } from '../../api/nad-owner.ts';
import type { NadRecord } from '../allocation/network-registry.ts';
import type { Sources } from './sources.ts';

/** Its network is being deleted, or does not select the namespace any more. */
export const isLeaving = (nad: NadRecord, sources: Sources | undefined): boolean => {
  if (nad.metadata.deletionTimestamp != null) return true;
  const owner = nad.isOwn ? nadOwner(nad) : undefined;
  const network = owner === undefined ? undefined : sources?.network(owner.kind, owner.key);
  if (network === undefined) return false;
  if (network.metadata.deletionTimestamp != null) return true;
  const labels = sources?.labelsOf(nad.metadata.namespace);
  return network.selector !== undefined && labels !== undefined && !matchesSelector(network.selector, labels);
};
