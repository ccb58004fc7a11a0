/** Who should reach whom. Pure. */
import type { Attachment, ReachabilityPod } from './types.ts';

/**
 * Pods of one network reach each other on it, whichever nodes they run on. Nothing else works: no other network is
 * reached, and the default network's interface of a pod that has a primary network (`infrastructure-locked`) is for the
 * kubelet of its node only, in both directions. Addresses have no say in it: tenants may use the same.
 * @param to an attachment of another pod
 */
export const mayReach = (from: ReachabilityPod, to: Attachment): boolean =>
  isOpen(to) && from.attachments.some((own) => isOpen(own) && own.network === to.network);

const isOpen = ({ role }: Attachment): boolean => role !== 'infrastructure-locked';
