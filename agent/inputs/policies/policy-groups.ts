/** The policies of one namespace, by whom they select. */
import { canonicalSelector, isSelected } from './canonical-selector.ts';
import { newGroup } from './namespace-pods.ts';
import type { NamespaceState, PolicyState, TargetGroup } from './state.ts';
import type { TargetTable } from './target-table.ts';
import type { PolicyProjection } from './types.ts';

/** Undefined when the policy is gone. @param key `namespace/name` */
export const replacePolicy = (
  targets: TargetTable,
  state: NamespaceState,
  key: string,
  after: PolicyProjection | undefined,
): void => {
  const before = state.policies.get(key);
  const group = after && ensureGroup(targets, state, after);
  if (before !== undefined) endPolicy(targets, state, before, group);
  if (after !== undefined && group !== undefined) addPolicy(targets, state, key, after, group);
};

const addPolicy = (
  targets: TargetTable,
  state: NamespaceState,
  key: string,
  projection: PolicyProjection,
  group: TargetGroup,
): void => {
  const policy: PolicyState = {
    ...{ key, projection, group, templates: undefined, excess: undefined, members: new Map() },
    ...{ rules: new Map(), perTarget: [], unwatch: [] },
  };
  state.policies.set(key, policy);
  targets.add(policy);
};

/** @param next the group that it goes to, which stays though it may be empty now */
const endPolicy = (
  targets: TargetTable,
  state: NamespaceState,
  policy: PolicyState,
  next: TargetGroup | undefined,
): void => {
  const { group } = policy;
  state.policies.delete(policy.key);
  targets.end(policy);
  if (group.policies.size > 0 || group === next) return;
  state.groups.delete(group.selector.text);
  state.filed.delete(group);
  for (const member of [...group.members]) targets.leave(group, member);
};

const ensureGroup = (targets: TargetTable, state: NamespaceState, { policy }: PolicyProjection): TargetGroup => {
  const selector = canonicalSelector(policy.podSelector);
  const known = state.groups.get(selector.text);
  if (known !== undefined) return known;
  const group = newGroup(selector);
  state.groups.set(selector.text, group);
  state.filed.add(group);
  for (const pod of state.pods.values()) {
    if (pod.pod.isLocal && !pod.pod.finished && isSelected(selector, pod.pod.labels)) targets.join(group, pod);
  }
  return group;
};
