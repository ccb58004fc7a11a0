/** `udnctl policy list`: the network policies that matter on this node. */
import type { AdminPolicyStatus, IsolatedPodStatus, PolicyStatus } from '../../api/policy-status.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';
import { doubtText, NOT_READ } from './unread.ts';

export interface ListPolicies {
  /** Only policies of it. */
  readonly namespace?: string | undefined;
  /** Those that select no pod of this node, too. */
  readonly all: boolean;
}

export interface PolicyListOutput extends Output {
  /** For the error output. */
  readonly notes: readonly string[];
  /** 1: they are not known yet, or may not be in effect. */
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
  const rows = shown.map((policy) => [
    policyText(policy),
    policy.types.join('\n'),
    String(policy.targets.length),
    String(policy.ruleCount),
    String(policy.peerPods),
    stateText(policy),
  ]);
  // Most are of no namespace.
  const admin = (found.admin ?? []).filter(
    ({ policy }) => namespace === undefined || policy.startsWith(`EgressFirewall/${namespace}/`),
  );
  const closed = found.pods.filter(
    ({ pod, isClosed }) => isClosed === true && (namespace === undefined || pod.startsWith(`${namespace}/`)),
  );
  const notes = [...(found.isRead ? [] : [NOT_READ]), ...(found.doubt === undefined ? [] : [doubtText(found.doubt)])];
  return {
    data: {
      ...{ isRead: found.isRead, policies: shown, admin },
      ...(closed.length > 0 && { closed }),
      ...(found.doubt !== undefined && { doubt: found.doubt }),
    },
    tables: [
      {
        head: ['POLICY', 'ISOLATES', 'PODS', 'RULES', 'PEERS', 'STATE'],
        rows,
        empty: all ? 'no network policy' : 'no network policy selects a pod of this node',
      },
      ...adminTables(admin),
      ...closedTables(closed),
    ],
    notes,
    exitStatus: notes.length === 0 ? 0 : 1,
  };
};

/** As `udnctl policy show` takes it. */
export const policyText = ({ kind, namespace, name }: Pick<PolicyStatus, 'kind' | 'namespace' | 'name'>): string =>
  `${kind === undefined ? '' : `${kind}/`}${namespace}/${name}`;

const adminTables = (all: readonly AdminPolicyStatus[]): Output['tables'] => {
  const [firewalls, admin] = [all.filter(isFirewall), all.filter((one) => !isFirewall(one))];
  return [
    ...(admin.length === 0 ? [] : [adminTable(admin)]),
    ...(firewalls.length === 0 ? [] : [firewallTable(firewalls)]),
  ];
};

const isFirewall = ({ tier }: AdminPolicyStatus): boolean => tier === 'firewall';

const firewallTable = (firewalls: readonly AdminPolicyStatus[]): Output['tables'][number] => ({
  head: ['FIREWALL', 'PODS', 'RULES', 'STATE'],
  rows: firewalls.map((one) => [one.policy, String(one.targets.length), String(one.ruleCount), adminStateText(one)]),
  empty: '',
});

const adminTable = (admin: readonly AdminPolicyStatus[]): Output['tables'][number] => ({
  head: ['ADMIN POLICY', 'TIER', 'PODS', 'RULES', 'STATE'],
  rows: admin.map((one) => [
    one.policy,
    one.tier,
    String(one.targets.length),
    String(one.ruleCount),
    adminStateText(one),
  ]),
  empty: '',
});

/** What no policy has done. */
const closedTables = (pods: readonly IsolatedPodStatus[]): Output['tables'] =>
  pods.length === 0
    ? []
    : [
        {
          head: ['POD', 'NETWORK', 'STATE'],
          rows: pods.map(({ pod, network }) => [pod, network, `${CLOSED_BY_ERROR}: udnctl problems`]),
          empty: '',
        },
      ];

export const CLOSED_BY_ERROR = 'closed by an error of the agent';

export const adminStateText = ({ problems: [problem], state, message, nameless }: AdminPolicyStatus): string => {
  if (problem !== undefined) return `closed: ${problem}`;
  if (state === 'ready' && nameless !== undefined) return `${state}, but no address is known for ${nameless}`;
  return state === 'ready' ? state : `${state}: ${message ?? 'not programmed yet'}`;
};

export const stateText = ({ problems: [problem], targets, state, message }: PolicyStatus): string => {
  if (problem !== undefined) return `closed: ${problem}`;
  if (targets.length === 0) return 'no pod here';
  return state === 'ready' ? state : `${state}: ${message ?? 'not programmed yet'}`;
};
