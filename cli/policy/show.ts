/** `udnctl policy show NAMESPACE/NAME`: what one policy does on this node. */
import type { PoliciesStatus, PolicyRuleStatus, PolicyStatus } from '../../api/policy-status.ts';
import { CliError } from '../errors.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { TextOutput } from '../output/format.ts';
import { stateText } from './list.ts';
import { NOT_READ } from './unread.ts';

export interface ShowOutput extends TextOutput {
  /** 1: something of it is not programmed, or it cannot be followed. */
  readonly exitStatus: 0 | 1;
}

/** @throws CliError, status 2 for what is no policy's name */
export const showPolicy = async (agent: Pick<AgentClient, 'policies'>, key: string): Promise<ShowOutput> => {
  if (!/^[^/\s]+\/[^/\s]+$/.test(key)) throw new CliError(`a policy is NAMESPACE/NAME, not "${key}"`, 2);
  const found = await agent.policies();
  const policy = found.policies.find(({ namespace, name }) => `${namespace}/${name}` === key);
  if (policy === undefined) {
    const why = found.isRead ? '' : `: ${NOT_READ}`;
    throw new CliError(`the agent of this node does not know NetworkPolicy ${key}${why}`);
  }
  const own = new Set(policy.rules);
  const rules = found.rules.filter(({ id }) => own.has(id));
  const state = stateText(policy, found, new Map(rules.map((rule) => [rule.id, rule])));
  const pods = found.pods.filter(({ pod }) => policy.targets.includes(pod));
  return {
    data: { policy: { ...policy, state }, rules, pods },
    lines: [
      `NetworkPolicy ${key}: ${state}`,
      ...(found.isRead ? [] : [NOT_READ]),
      ...policy.problems.map((problem) => `  cannot be followed: ${problem}`),
      ...policy.notes.map((note) => `  note: ${note}`),
      `  pods here: ${policy.targets.length === 0 ? 'none' : policy.targets.join(', ')}`,
      ...policy.types.flatMap((direction) => directionLines(policy, direction, rules)),
      ...othersLines(policy, pods),
    ],
    exitStatus: state === 'ready' || state === 'no pod here' ? 0 : 1,
  };
};

const directionLines = (
  policy: PolicyStatus,
  direction: PolicyStatus['types'][number],
  rules: readonly PolicyRuleStatus[],
): readonly string[] => {
  const own = rules.filter((rule) => rule.direction === direction);
  const where = policy.targets.length === 0 ? ', as none of its pods is here' : '';
  return [
    `  ${direction}: ${own.length === 0 ? `it has no rule${where}` : `it allows`}`,
    ...own.flatMap((rule) => ruleLines(policy, rule)),
  ];
};

const ruleLines = (policy: PolicyStatus, rule: PolicyRuleStatus): readonly string[] => {
  const { direction, network, family, peers, peerPods, ports, stateless, log, state, message, id, targetSet } = rule;
  const others = rule.policies.filter((one) => one !== `${policy.namespace}/${policy.name}`);
  const known = peerPods === undefined ? '' : ` (${peerPods} ${peerPods === 1 ? 'pod' : 'pods'})`;
  return [
    `    ${direction === 'Ingress' ? 'from' : 'to'} ${peers}${known}: ${ports}${stateless ? ', stateless' : ''}`,
    `      IPv${family} on ${network}, for ${rule.targets.join(', ')}; rule ${id}, targets $${targetSet}`,
    ...(log === undefined ? [] : [`      logged as ${log}`]),
    ...(others.length === 0 ? [] : [`      the same rule as of ${others.join(', ')}`]),
    ...(state === 'ready' ? [] : [`      ${state}: ${message ?? 'not programmed yet'}`]),
  ];
};

/** What it does not allow, another policy may. */
const othersLines = (policy: PolicyStatus, pods: PoliciesStatus['pods']): readonly string[] => {
  const key = `${policy.namespace}/${policy.name}`;
  const others = new Set(pods.flatMap(({ directions }) => directions.flatMap(({ policies }) => policies)));
  others.delete(key);
  return others.size === 0 ? [] : [`  other policies of these pods: ${[...others].sort().join(', ')}`];
};
