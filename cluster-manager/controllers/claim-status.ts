/** Writes to an IPAMClaim what it has: before that, nobody uses it. */
import { hasCondition, nextCondition } from '../../api/condition.ts';
import { IPAM_CLAIM_FINALIZER } from '../../api/names.ts';
import { IPAM_CLAIMS } from '../../api/resources.ts';
import { isMoot } from '../../kube/errors.ts';
import type { ClaimStatus } from '../allocation/claim-book.ts';
import type { ClaimFacts } from '../facts/claim-facts.ts';
import type { ControllerContext } from './types.ts';

/**
 * The finalizer first: a claim that has addresses is not gone before they are taken back. Nothing is sent when the claim
 * says it all already.
 * @returns whether what the claim has is in the API; false also when the claim is gone
 */
export const settleClaim = async (
  context: Pick<ControllerContext, 'caches' | 'state' | 'writer' | 'clock'>,
  key: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const facts = context.caches.claims.get(key);
  const status = context.state.claims.status(key);
  if (facts === undefined || status === undefined) return false;
  const { namespace, name, uid } = facts;
  const apply = (part: Readonly<Record<string, unknown>>, finalizers?: readonly string[], subresource?: string) =>
    context.writer.apply(
      IPAM_CLAIMS,
      { metadata: { namespace, name, uid, ...(finalizers !== undefined && { finalizers }) }, ...part },
      { subresource },
      signal,
    );
  try {
    const needsFinalizer = status.addresses.length > 0 && !facts.isLeaving;
    if (needsFinalizer && !facts.finalizers.includes(IPAM_CLAIM_FINALIZER)) await apply({}, [IPAM_CLAIM_FINALIZER]);
    if (!isReported(facts, status)) {
      await apply({ status: statusOf(facts, status, context.clock.wall()) }, undefined, 'status');
    }
    return status.condition.status === 'True';
  } catch (error) {
    if (isMoot(error)) return false;
    throw error;
  }
};

const isReported = ({ claim, generation }: ClaimFacts, { addresses, ownerPod, condition }: ClaimStatus): boolean =>
  claim !== undefined &&
  claim.addresses.join() === addresses.join() &&
  claim.ownerPod === ownerPod &&
  hasCondition(claim.conditions, { ...condition, observedGeneration: generation });

const statusOf = ({ claim, generation }: ClaimFacts, { addresses, ownerPod, condition }: ClaimStatus, wall: number) => {
  const now = new Date(wall).toISOString().replace(/\.[0-9]+Z$/, 'Z');
  return {
    ips: addresses,
    ...(ownerPod !== undefined && { ownerPod: { name: ownerPod } }),
    conditions: [nextCondition({ ...condition, observedGeneration: generation }, claim?.conditions ?? [], now)],
  };
};
