/** Keeps the status of IPAMClaims true, and lets go of claims that are being deleted and that no pod uses. */
import { describeFinding } from '../../api/errors.ts';
import { IPAM_CLAIM_API_VERSION, IPAM_CLAIM_FINALIZER } from '../../api/names.ts';
import { IPAM_CLAIMS } from '../../api/resources.ts';
import { settleClaim } from './claim-status.ts';
import { removeFinalizer } from './finalizer.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const claimReconciler =
  (context: ControllerContext): Reconcile =>
  async (key, signal) => {
    const { caches, client, state, problems } = context;
    const facts = caches.claims.get(key);
    if (facts === undefined) return;
    const { namespace, name, uid, finalizers, error, isLeaving } = facts;
    const condition = state.claims.status(key)?.condition;
    const failure = condition?.status === 'False' ? [`${condition.reason}: ${condition.message}`] : [];
    const found = error === undefined ? failure : [describeFinding(error)];
    const regarding = { apiVersion: IPAM_CLAIM_API_VERSION, kind: 'IPAMClaim', namespace, name, uid };
    problems.report(regarding, 'ErrorAllocatingIPs', found);
    if (error === undefined) await settleClaim(context, key, signal);
    // Whoever has it keeps it: the claim waits, and is asked again when the pod goes.
    if (!isLeaving || state.claims.users(key).length > 0) return;
    await removeFinalizer(client, IPAM_CLAIMS, { namespace, name }, finalizers, IPAM_CLAIM_FINALIZER, signal);
  };
