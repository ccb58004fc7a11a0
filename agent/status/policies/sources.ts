/** What of network policies is told to people. */
import type { ClusterConfig } from '../../../api/cluster-config.ts';
import type { DomainName } from '../../../net/domain-name.ts';
import type { DomainState } from '../../dns/types.ts';
import type { IsolatingPolicy, PolicyDescription } from '../../inputs/policies/describe.ts';
import type { PolicyPod } from '../../inputs/policies/types.ts';
import type { Problem } from '../../inputs/problem.ts';
import type { FactStore } from '../../model/fact-store.ts';
import type { Reconcilers } from '../../reconcile/reconcilers.ts';

export interface PolicyLookup {
  /** Of policies whose rules have an order; `object` is `AdminNetworkPolicy/name`. */
  problems(): readonly Problem[];
  /** Policies, namespaces and pods have been read from the API server. */
  isRead(): boolean;
  /** `namespace/name` of each; of a MultiNetworkPolicy with its kind in front. */
  policies(): Iterable<string>;
  describe(policy: string): PolicyDescription | undefined;
  /** Policies that select a pod of this node. @param pod `namespace/name`, or `attachmentId` */
  isolating(pod: string): readonly IsolatingPolicy[];
  /** `attachmentId` of each secondary network of a pod that has policies. */
  attachments(pod: string): readonly string[];
  /** By `namespace/name`, of all nodes. */
  pods(): Iterable<readonly [key: string, pod: PolicyPod]>;
  pod(key: string): PolicyPod | undefined;
  /** Each policy that has the rule, as `policies` names it. */
  policiesOfRule(rule: string): readonly string[];
}

export interface PolicyReportSources {
  readonly facts: FactStore;
  readonly reconcilers: Reconcilers;
  /** This one. */
  readonly node: string;
  /** What is in its Service subnets is not for firewalls; what is in any of its ranges is no Service's external address. */
  readonly cluster: ClusterConfig;
  readonly policyLookup: PolicyLookup;
  /** Why rows that are written may have no effect on packets; undefined: daemons follow. */
  readonly failureToFollow: () => string | undefined;
  /** Why policies and pods may be others by now; undefined: the API server sends them. */
  readonly failureToHear: () => string | undefined;
  /** Undefined: nobody has asked for the name. */
  readonly domainState: (name: DomainName) => DomainState | undefined;
  /** Who wants the rows of a rule, those that drop, a set of subjects, a peer's membership, or a pod's port with its own memberships. */
  readonly ownersOver: (subject: PolicySubject, key: string) => readonly string[];
}

type PolicySubject = 'policyRule' | 'denyGroup' | 'policyPeer' | 'pod' | 'adminRule' | 'subjectSet' | 'domainSet';
