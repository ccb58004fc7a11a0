/** What network policies are about, and who keeps the facts that follow from them. */
import { partOf } from '../../kube/reflector/part-of.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import type { NamespaceParts } from './namespace-parts.ts';
import type { PodParts } from './pod-parts.ts';
import type { PolicyIndex } from './policies/policy-index.ts';
import type { PolicyNamespace, PolicyPod, PolicyProjection } from './policies/types.ts';

export interface PolicyCaches {
  readonly policies: ObjectCache<PolicyProjection>;
  /** All of the cluster. */
  readonly pods: ObjectCache<PolicyPod>;
  readonly namespaces: ObjectCache<PolicyNamespace>;
}

/** @param namespaces @param pods mirrors with these among their parts */
export const policyCaches = (
  policies: ObjectCache<PolicyProjection>,
  namespaces: ObjectCache<Pick<NamespaceParts, 'policy'>>,
  pods: ObjectCache<Pick<PodParts, 'policyPod'>>,
): PolicyCaches => ({
  policies,
  namespaces: partOf(namespaces, ({ policy }) => policy),
  pods: partOf(pods, ({ policyPod }) => policyPod),
});

/**
 * To be called after those who keep the facts about pods, namespaces and networks: a change reaches each of them in the same turn, and
 * nothing is rendered in between, so a pod comes to be together with what isolates it.
 * @returns what ends it
 */
export const followPolicies = (index: PolicyIndex, { policies, pods, namespaces }: PolicyCaches): (() => void) => {
  const subscriptions = [
    namespaces.subscribe(({ key, after }) => index.changeNamespace(key, after)),
    pods.subscribe(({ key, after }) => index.changePod(key, after)),
    policies.subscribe(({ key, after }) => index.changePolicy(key, after)),
  ];
  return () => {
    for (const unsubscribe of subscriptions) unsubscribe();
  };
};
