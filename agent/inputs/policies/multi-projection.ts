/** What the agent keeps of a MultiNetworkPolicy: a NetworkPolicy, and for which networks it is. It never throws, as with those. */
import { POLICY_FOR_ANNOTATION, readPolicyFor } from '../../../api/multi-network-policy.ts';
import type { Problem } from '../problem.ts';
import { closedPolicy, type PolicyObject, projectPolicy } from './policy-projection.ts';
import type { PolicyProjection } from './types.ts';

export interface MultiProjection {
  readonly policy: PolicyProjection;
  /** Of the annotation, for the next projection. */
  readonly policyFor: string | undefined;
  /** `namespace/name` of the NetworkAttachmentDefinitions that it names. */
  readonly nads: readonly string[];
  /** What is wrong with it wherever it is in effect, or why it is nowhere. */
  readonly problems: readonly Problem[];
}

/** @param before as the same policy was projected before */
export const projectMultiPolicy = (object: PolicyObject, before?: MultiProjection): MultiProjection => {
  const policyFor = object.metadata.annotations?.[POLICY_FOR_ANNOTATION];
  // What was closed because of its annotation is read anew, as are those of which the annotation is another.
  const isSame = before !== undefined && before.policyFor === policyFor;
  const policy = projectPolicy(object, isSame ? before.policy : undefined, 'MultiNetworkPolicy');
  if (isSame && policy === before.policy) return before;
  const { namespace, name } = policy.policy;
  const key = `MultiNetworkPolicy/${namespace}/${name}`;
  const { nads, problem } = readPolicyFor(policyFor ?? '', namespace);
  if (problem !== undefined) {
    const why: Problem = { object: key, message: problem, cause: 'object-unreadable' };
    const closed = closedPolicy(policy.policy, policy.source, [why]);
    return { policy: closed, policyFor, nads, problems: [...policy.problems, ...closed.problems] };
  }
  const nowhere: Problem[] = nads.length > 0 ? [] : [{ object: key, message: NOWHERE, severity: 'warning' }];
  return { policy, policyFor, nads, problems: [...policy.problems, ...nowhere] };
};

const NOWHERE = `it is for no network: it has no annotation ${POLICY_FOR_ANNOTATION} that names one`;
