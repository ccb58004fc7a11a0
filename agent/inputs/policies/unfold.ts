/** When a policy is worked out: while it has a target, and is not closed. */
import { MAX_MEMBERS } from './cost.ts';
import type { PeerTable } from './peer-table.ts';
import type { PolicyState, TargetGroup } from './state.ts';
import { type RuleTemplate, templatesOf } from './templates.ts';

/** Templates of a policy that is used, and what of them each target has its own numbers for. */
export const unfold = (policy: PolicyState, isUsed: boolean): readonly RuleTemplate[] => {
  const templates = isUsed ? templatesFor(policy) : undefined;
  policy.templates = templates;
  policy.perTarget = (templates ?? []).filter(
    ({ direction, ports }) => direction === 'Ingress' && (ports?.named.length ?? 0) > 0,
  );
  if (policy.perTarget.length > 0) policy.group.named.add(policy);
  else policy.group.named.delete(policy);
  return templates ?? [];
};

const templatesFor = ({ templates, projection }: PolicyState): readonly RuleTemplate[] =>
  templates ?? projection.templates?.deref() ?? templatesOf(projection.policy) ?? [];

/** By the selection's text: how many pods each selection of a policy has. It counts no further than to what closes the policy. */
export const membersOf = (policy: PolicyState, peers: PeerTable, network: string): PolicyState['members'] => {
  const members = new Map<string, number>();
  let room = MAX_MEMBERS;
  for (const { peers: own } of policy.templates ?? []) {
    if (own.kind !== 'pods' || members.has(own.selection.text)) continue;
    const count = peers.membersOf(network, own.selection, room);
    members.set(own.selection.text, count);
    room -= count;
    if (room < 0) break;
  }
  return members;
};

/** Whether the selections of a policy may have more pods than it may have: it looks at none of them. */
export const mayHaveTooMany = (policy: PolicyState, peers: PeerTable, network: string): boolean => {
  let most = 0;
  for (const { peers: own } of policy.templates ?? [])
    if (own.kind === 'pods') most += peers.mostMembersOf(network, own.selection);
  return most > MAX_MEMBERS;
};

/** What a group has of rules, from its policies. */
export const recountRules = ({ rules, policies }: TargetGroup): void => {
  rules.clear();
  for (const policy of policies)
    for (const [id, rule] of policy.rules) rules.set(id, { rule, uses: (rules.get(id)?.uses ?? 0) + 1 });
};
