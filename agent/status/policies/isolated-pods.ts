/** Pods of this node that policies isolate. */
import type { IsolatedPodStatus } from '../../../api/policy-status.ts';
import { worst } from '../../../base/reconciler.ts';
import { podOfId } from '../../model/facts.ts';
import type { PodPolicyFact, PolicyDirection } from '../../model/policies/facts.ts';
import { denyGroupId, denyGroupName } from '../../model/policies/ids.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { stateOf } from '../programming-state.ts';
import type { PolicyReportSources } from './sources.ts';

/** @param pods `namespace/name`, or `attachmentId`; those that no policy selects are left out */
export const podStatuses = (
  { facts, reconcilers, policyLookup, ownersOver }: PolicyReportSources,
  pods: readonly string[],
): IsolatedPodStatus[] =>
  pods.toSorted().flatMap((pod) => {
    const fact = facts.get('podPolicy', pod);
    if (fact === undefined) return [];
    const own = podOfId(pod);
    return {
      pod: own,
      network: fact.network,
      ...(own !== pod && { isAttachment: true }),
      ...(fact.isClosed && { isClosed: true }),
      directions: fact.isolated.map((direction) => ({
        direction,
        policies: isolatingPolicies(policyLookup, pod, direction),
        ...groupNames(fact, direction),
      })),
      ruleCount: fact.rules.length,
      ...stateOf(
        worst(
          [...ownersOver('pod', own), ...ownersOver('denyGroup', fact.denyGroup)].map((owner) =>
            statusOf(reconcilers, owner),
          ),
        ),
      ),
    };
  });

/** Every isolated pod of a network is in one group; pods whose drops are logged are in one more. */
export const groupNames = (
  { network, denyGroup }: PodPolicyFact,
  direction: PolicyDirection,
): { denyGroup: string; logGroup?: string } => {
  const [all, own] = [denyGroupId({ network }), denyGroup].map((group) => denyGroupName(group, direction));
  return { denyGroup: all ?? '', ...(own !== all && own !== undefined && { logGroup: own }) };
};

export const isolatingPolicies = (
  { isolating }: PolicyReportSources['policyLookup'],
  pod: string,
  direction: PolicyDirection,
): string[] => isolating(pod).flatMap(({ policy, types }) => (types.includes(direction) ? policy : []));
