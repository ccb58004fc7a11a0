/** Policies that somebody has written for a pod or a network, and that nothing enforces. */
import { matchesSelector } from '../../api/label-selector.ts';
import { policyName } from '../../api/policy.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import { type Finding, named, warning } from './finding.ts';

export const policiesOfPod = ({ namespace, labels }: PodState, { policies }: Snapshot): readonly Finding[] =>
  findingsOf(
    policies.filter(
      (policy) =>
        isIn(policy, [namespace]) && (policy.podSelector === undefined || matchesSelector(policy.podSelector, labels)),
    ),
  );

export const policiesIn = (namespaces: readonly string[], { policies }: Snapshot): readonly Finding[] =>
  findingsOf(policies.filter((policy) => isIn(policy, namespaces)));

type Policies = Snapshot['policies'];

const isIn = ({ namespace }: Policies[number], namespaces: readonly string[]): boolean =>
  namespace === undefined || namespaces.includes(namespace);

const findingsOf = (policies: Policies): readonly Finding[] =>
  policies.length === 0
    ? []
    : [warning('policies', `ovn-udn does not enforce ${named(policies.map(policyName))}: what they deny is allowed`)];
