/** `udnctl policy show NAMESPACE/NAME`: what one policy does on this node. */
import { ADMIN_POLICY_KINDS } from '../../api/admin-policy/types.ts';
import type {
  AdminPolicyStatus,
  DomainStatus,
  PoliciesStatus,
  PolicyRuleStatus,
  PolicyStatus,
} from '../../api/policy-status.ts';
import { CliError } from '../errors.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { TextOutput } from '../output/format.ts';
import { adminStateText, policyText, stateText } from './list.ts';
import { doubtText, NOT_READ } from './unread.ts';

export interface ShowOutput extends TextOutput {
  /** 1: something of it is not programmed or may not be in effect, or it cannot be followed. */
  readonly exitStatus: 0 | 1;
}

/** @throws CliError, status 2 for what is no policy's name */
export const showPolicy = async (agent: Pick<AgentClient, 'policies'>, key: string): Promise<ShowOutput> => {
  if (!/^([^/\s]+\/[^/\s]+|(EgressFirewall|MultiNetworkPolicy)\/[^/\s]+\/[^/\s]+)$/.test(key))
    throw new CliError(`a policy is NAMESPACE/NAME, not "${key}"`, 2);
  const { isRead, policies, rules, pods, admin: [admin] = [], doubt } = await agent.policies({ policy: key });
  const [policy] = policies;
  if (policy === undefined && admin !== undefined) return showAdmin(admin, doubt);
  if (policy === undefined) {
    const why = isRead ? '' : `: ${NOT_READ}`;
    throw new CliError(`the agent of this node does not know ${kindOf(key)}${why}`);
  }
  const state = stateText(policy);
  return {
    data: { policy, rules, pods, ...(doubt !== undefined && { doubt }) },
    lines: [
      `${titleOf(policy)}: ${state}`,
      ...(isRead ? [] : [NOT_READ]),
      ...doubtLines(doubt),
      ...policy.problems.map((problem) => `  cannot be followed: ${problem}`),
      ...policy.notes.map((note) => `  note: ${note}`),
      `  pods here: ${policy.targets.length === 0 ? 'none' : policy.targets.join(', ')}`,
      ...policy.types.flatMap((direction) => directionLines(policy, direction, rules)),
      ...othersLines(policy, pods),
    ],
    exitStatus: (state === 'ready' || state === 'no pod here') && doubt === undefined ? 0 : 1,
  };
};

const doubtLines = (doubt: string | undefined): readonly string[] =>
  doubt === undefined ? [] : [`  ${doubtText(doubt)}`];

const titleOf = ({ kind, networks, namespace, name }: PolicyStatus): string => {
  const where = networks === undefined ? '' : `, for ${networks === '' ? 'no network that is known' : networks}`;
  return `${kind ?? 'NetworkPolicy'} ${namespace}/${name}${where}`;
};

const kindOf = (key: string): string =>
  [...ADMIN_POLICY_KINDS, 'EgressFirewall'].some((kind) => key.startsWith(`${kind}/`))
    ? `pods that ${key} is about`
    : key.startsWith('MultiNetworkPolicy/')
      ? key
      : `NetworkPolicy ${key}`;

const showAdmin = (admin: AdminPolicyStatus, doubt: string | undefined): ShowOutput => {
  const { policy, tier, problems, targets, rules, state, nameless, domains = [] } = admin;
  const isFollowed = problems.length === 0 && nameless === undefined;
  const ordered = rules.toSorted((a, b) => b.priority - a.priority);
  const lines = ordered.map(
    ({ direction, family, action, text, network, priority }) =>
      `  ${direction}, IPv${family}, ${network}: ${action} ${text} (priority ${priority})`,
  );
  return {
    data: { ...admin, ...(doubt !== undefined && { doubt }) },
    lines: [
      `${policy}, tier ${tier}: ${adminStateText(admin)}`,
      ...doubtLines(doubt),
      ...problems.map((problem) => `  cannot be followed: ${problem}`),
      `  pods here: ${targets.length === 0 ? 'none' : targets.join(', ')}`,
      ...lines,
      ...domains.flatMap(domainLines),
    ],
    exitStatus: state === 'ready' && isFollowed && doubt === undefined ? 0 : 1,
  };
};

const domainLines = ({
  name,
  state,
  addresses,
  answeredSecondsAgo,
  problem,
  notes,
}: DomainStatus): readonly string[] => [
  `  ${name}: ${addresses.length === 0 ? 'no address' : addresses.join(', ')} (${ageText(state, answeredSecondsAgo)})`,
  ...(problem === undefined ? [] : [`    not resolved: ${problem}`]),
  ...notes.map((note) => `    ${note}`),
];

const ageText = (state: DomainStatus['state'], seconds: number | undefined): string => {
  if (seconds === undefined) return state === 'failed' ? 'never answered' : 'not answered yet';
  return `answered ${seconds} s ago`;
};

const directionLines = (
  policy: PolicyStatus,
  direction: PolicyStatus['types'][number],
  rules: readonly PolicyRuleStatus[],
): readonly string[] => {
  const own = rules.filter((rule) => rule.direction === direction);
  const where = policy.targets.length === 0 ? ', as none of its pods is here' : '';
  // Families of one rule are two, in OVN.
  const alike = Map.groupBy(own, (rule) => [ruleLine(rule), ...detailLines(policy, rule)].join('\n'));
  return [
    `  ${direction}: ${own.length === 0 ? `it has no rule${where}` : 'it allows'}`,
    ...[...alike].flatMap(([text, same]) => [...text.split('\n'), ...same.map(idLine)]),
  ];
};

const ruleLine = ({ direction, peers, peerPods, ports, stateless }: PolicyRuleStatus): string => {
  const known = peerPods === undefined ? '' : ` (${peerPods} ${peerPods === 1 ? 'pod' : 'pods'})`;
  return `    ${direction === 'Ingress' ? 'from' : 'to'} ${peers}${known}: ${ports}${stateless ? ', stateless' : ''}`;
};

const detailLines = (policy: PolicyStatus, rule: PolicyRuleStatus): readonly string[] => {
  const { network, log, state, message, targets } = rule;
  const others = rule.policies.filter((one) => one !== policyText(policy));
  return [
    `      for ${targets.join(', ')} on ${network}`,
    ...(others.length === 0 ? [] : [`      the same rule as of ${others.join(', ')}`]),
    ...(log === undefined ? [] : [`      logged as ${log}`]),
    ...(state === 'ready' ? [] : [`      ${state}: ${message ?? 'not programmed yet'}`]),
  ];
};

/** By which its ACL is found in OVN. */
const idLine = ({ family, id, targetSet }: PolicyRuleStatus): string =>
  `      IPv${family}: rule ${id}, targets $${targetSet}`;

/** What it does not allow, another policy may. */
const othersLines = (policy: PolicyStatus, pods: PoliciesStatus['pods']): readonly string[] => {
  const key = policyText(policy);
  const others = new Set(pods.flatMap(({ directions }) => directions.flatMap(({ policies }) => policies)));
  others.delete(key);
  return others.size === 0 ? [] : [`  other policies of these pods: ${[...others].sort().join(', ')}`];
};
