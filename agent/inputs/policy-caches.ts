/** What network policies are about, and who keeps the facts that follow from them. */
import type { Clock } from '../../base/clock.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import { partOf } from '../../kube/reflector/part-of.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import { type AdminCaches, followAdminPolicies } from './admin-inputs.ts';
import { samePolicyPod } from './compact-pod.ts';
import type { NamespaceParts } from './namespace-parts.ts';
import type { NodeProjection } from './node-projection.ts';
import type { PolicyNode } from './policies/admin/node-peers.ts';
import type { MultiIndex } from './policies/multi-index.ts';
import type { MultiProjection } from './policies/multi-projection.ts';
import type { PolicyIndex } from './policies/policy-index.ts';
import type { PolicyNamespace, PolicyPod, PolicyProjection } from './policies/types.ts';
import { PolicyPace } from './policy-pace.ts';

export interface PolicyCaches {
  readonly policies: ObjectCache<PolicyProjection>;
  /** MultiNetworkPolicies; absent: there are none. */
  readonly multi?: ObjectCache<MultiProjection> | undefined;
  /** All of the cluster. */
  readonly pods: ObjectCache<PolicyPod>;
  readonly namespaces: ObjectCache<PolicyNamespace>;
  readonly nodes: ObjectCache<PolicyNode>;
  readonly admin: AdminCaches;
}

/** Mirrors with what policies are about among their parts. */
interface Wholes {
  readonly multi?: ObjectCache<MultiProjection>;
  readonly nodes: ObjectCache<Pick<NodeProjection, 'peer'>>;
  readonly namespaces: ObjectCache<Pick<NamespaceParts, 'policy'>>;
  readonly pods: ObjectCache<{ readonly policyPod: PolicyPod }>;
}

export const policyCaches = (
  policies: ObjectCache<PolicyProjection>,
  admin: AdminCaches,
  { nodes, namespaces, pods, multi }: Wholes,
): PolicyCaches => ({
  ...{ policies, admin, multi },
  nodes: partOf(nodes, ({ peer }) => peer, jsonEqual),
  namespaces: partOf(namespaces, ({ policy }) => policy),
  pods: partOf(pods, ({ policyPod }) => policyPod, samePolicyPod),
});

export type PolicyFollower = Pick<
  PolicyIndex,
  'changeNode' | 'changeAdminPolicy' | 'changeNamespace' | 'changePod' | 'changePolicy'
> & { readonly changeMultiPolicy: MultiIndex['changePolicy'] };

/**
 * To be called after those who keep the facts about pods, namespaces and networks: a change reaches each of them in the same turn, and
 * nothing is rendered in between, so a pod comes to be together with what isolates it. Policies that come one after the other are
 * collected; what there is already is followed before this returns.
 * @param clock absent: nothing is collected
 * @returns what ends it
 */
export const followPolicies = (
  index: PolicyFollower,
  { policies, admin, pods, nodes, namespaces, multi }: PolicyCaches,
  clock: Clock | undefined,
): (() => void) => {
  const pace = new PolicyPace(clock);
  let isThere = true;
  const inPace = (key: string, change: () => void): void => (isThere ? change() : pace.make(key, change));
  const subscriptions = [
    nodes.subscribe(({ key, after }) => index.changeNode(key, after)),
    // Before the pods: a policy that comes moves others in their order, which costs where these have subjects.
    followAdminPolicies(index, admin),
    namespaces.subscribe(({ key, after }) => index.changeNamespace(key, after)),
    pods.subscribe(({ key, after }) => {
      // Of this node: policies that have come before it are in effect when it starts.
      if (after?.isLocal === true) pace.release();
      index.changePod(key, after);
    }),
    policies.subscribe(({ key, after }) => inPace(key, () => index.changePolicy(key, after))),
    ...(multi === undefined
      ? []
      : [multi.subscribe(({ key, after }) => inPace(`multi ${key}`, () => index.changeMultiPolicy(key, after)))]),
  ];
  isThere = false;
  return () => {
    pace.stop();
    for (const unsubscribe of subscriptions) unsubscribe();
  };
};
