/** `udnctl policy list`: the network policies that matter on this node. */
import type { PoliciesStatus, PolicyRuleStatus, PolicyStatus } from '../../api/policy-status.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';
import { NOT_READ } from './unread.ts';

export interface ListPolicies {
  /** Only policies of it. */
  readonly namespace?: string | undefined;
  /** Those that select no pod of this node, too. */
  readonly all: boolean;
}

export interface PolicyListOutput extends Output {
  /** For the error output. */
  readonly notes: readonly string[];
  /** 1: they are not known yet. */
  readonly exitStatus: 0 | 1;
}

export const listPolicies = async (
  agent: Pick<AgentClient, 'policies'>,
  { namespace, all }: ListPolicies,
): Promise<PolicyListOutput> => {
  const found = await agent.policies();
  const shown = found.policies.filter(
    (policy) =>
      (all || policy.targets.length > 0 || policy.problems.length > 0) &&
      (namespace === undefined || policy.namespace === namespace),
  );
  const rules = new Map(found.rules.map((rule) => [rule.id, rule]));
  const rows = shown.map((policy) => [
    `${policy.namespace}/${policy.name}`,
    policy.types.join('\n'),
    String(policy.targets.length),
    String(policy.rules.length),
    String(peerPods(policy, rules)),
    stateText(policy, found, rules),
  ]);
  return {
    data: {
      isRead: found.isRead,
      policies: shown.map((policy) => ({ ...policy, state: stateText(policy, found, rules) })),
    },
    tables: [
      {
        head: ['POLICY', 'ISOLATES', 'PODS', 'RULES', 'PEERS', 'STATE'],
        rows,
        empty: all ? 'no network policy' : 'no network policy selects a pod of this node',
      },
    ],
    notes: found.isRead ? [] : [NOT_READ],
    exitStatus: found.isRead ? 0 : 1,
  };
};

type Rules = ReadonlyMap<string, PolicyRuleStatus>;

const rulesOf = (policy: PolicyStatus, rules: Rules): readonly PolicyRuleStatus[] =>
  policy.rules.flatMap((id) => rules.get(id) ?? []);

/** Rules of one policy for two families name a set each: the larger one says how many there are. */
const peerPods = (policy: PolicyStatus, rules: Rules): number =>
  Math.max(0, ...rulesOf(policy, rules).map(({ peerPods: count = 0 }) => count));

export const stateText = (policy: PolicyStatus, { pods }: Pick<PoliciesStatus, 'pods'>, rules: Rules): string => {
  const [problem] = policy.problems;
  if (problem !== undefined) return `closed: ${problem}`;
  if (policy.targets.length === 0) return 'no pod here';
  const parts = [...rulesOf(policy, rules), ...pods.filter(({ pod }) => policy.targets.includes(pod))];
  const worst = parts.find(({ state }) => state === 'error') ?? parts.find(({ state }) => state === 'pending');
  if (worst !== undefined) return `${worst.state}: ${worst.message ?? 'not programmed yet'}`;
  const waiting = policy.targets.filter((target) => !pods.some(({ pod }) => pod === target));
  return waiting.length === 0 ? 'ready' : `pending: ${waiting[0]} has no network yet`;
};
