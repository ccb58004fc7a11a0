/** What network policies are about, and who keeps the facts that follow from them. */
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
import { PolicyPace, type PolicyPaceOptions } from './policy-pace.ts';

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

/** Functions of their own: none of them needs `this`. */
export type PolicyFollower = Pick<
  PolicyIndex,
  'changeNode' | 'changeAdminPolicy' | 'changeNamespace' | 'changePod' | 'changePolicy' | 'together'
> & { readonly changeMultiPolicy: MultiIndex['changePolicy'] };

export interface FollowedPolicies {
  readonly isHolding: boolean;
  /** Follows what is held. */
  release(): void;
  stop(): void;
}

/**
 * To be called after those who keep the facts about pods, namespaces and networks: a change reaches each of them in the same turn, and
 * nothing is rendered in between, so a pod comes to be together with what isolates it. Policies that come in a long row are collected; what
 * there is already is followed before this returns. What is held is followed before anything else that it can meet, as it was heard.
 */
export const followPolicies = (
  index: PolicyFollower,
  { policies, admin, pods, nodes, namespaces, multi }: PolicyCaches,
  options: PolicyPaceOptions,
): FollowedPolicies => {
  const pace = new PolicyPace(options);
  let isThere = true;
  const inPace = (key: string, after: unknown, change: () => void): void =>
    isThere ? change() : pace.make(key, change, after === undefined);
  const inOrder =
    <Args extends readonly unknown[]>(change: (...args: Args) => void) =>
    (...args: Args): void => {
      pace.release();
      change(...args);
    };
  const changeNode = inOrder(index.changeNode);
  const changeNamespace = inOrder(index.changeNamespace);
  const changeAdminPolicy = inOrder(index.changeAdminPolicy);
  const followNetworkPolicies = (): (() => void) =>
    policies.subscribe(({ key, after }) => inPace(`NetworkPolicy/${key}`, after, () => index.changePolicy(key, after)));
  const subscriptions = [
    nodes.subscribe(({ key, after }) => changeNode(key, after)),
    // Before the pods: a policy that comes moves others in their order, which costs where these have subjects.
    followAdminPolicies({ changeAdminPolicy }, admin),
    namespaces.subscribe(({ key, after }) => changeNamespace(key, after)),
    pods.subscribe(({ key, after }) => {
      // Of this node: policies that have come before it are in effect when it starts.
      if (after?.isLocal === true) pace.release();
      index.changePod(key, after);
    }),
    index.together(followNetworkPolicies),
    ...(multi === undefined
      ? []
      : [
          multi.subscribe(({ key, after }) =>
            inPace(`MultiNetworkPolicy/${key}`, after, () => index.changeMultiPolicy(key, after)),
          ),
        ]),
  ];
  isThere = false;
  return {
    get isHolding() {
      return pace.isHolding;
    },
    release: () => pace.release(),
    stop: () => {
      pace.stop();
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
};
