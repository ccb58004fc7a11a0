/** Tiers and priorities of our ACLs. OVN evaluates tier 0 first, and within a tier the highest priority wins. */

export interface AclRank {
  readonly tier: number;
  readonly priority: number;
  readonly purpose: string;
}

export const ACL_RANKS = {
  serverAnswers: { tier: 0, priority: 1100, purpose: 'drop DHCP server replies of a pod' },
  serverQuestions: {
    tier: 0,
    priority: 1103,
    purpose: 'drop what asks a DHCP server before a pod receives it: OVN has answered',
  },
  machineAsks: {
    tier: 0,
    priority: 1102,
    purpose: 'what virtual machines ask OVN for their addresses with, before policies look at it',
  },
  isolationAllow: {
    tier: 0,
    priority: 1001,
    purpose: 'traffic that a pod of a primary network may send and receive on its default interface',
  },
  isolationDeny: { tier: 0, priority: 1000, purpose: 'everything else on the default interface of such a pod' },
  firewallExempt: {
    tier: 0,
    priority: 10_001,
    purpose: 'what pods of a namespace with a firewall send to the router for the cluster’s own addresses',
  },
  firewallRules: {
    tier: 0,
    priority: 10_000,
    purpose: 'rules of an EgressFirewall, in their order, down to 2001: of what pods send to the router',
  },
  isolatedPass: {
    tier: 0,
    priority: 1,
    purpose: 'what comes to pods that a policy is about, for the tiers below',
  },
  adminNodeAllow: {
    tier: 1,
    priority: 32_767,
    purpose:
      'traffic of the node to pods that administrators’ policies are about: probes of the kubelet pass whatever these say',
  },
  adminRules: { tier: 1, priority: 32_001, purpose: 'rules of administrators’ policies, in their order, down to 2' },
  isolatedPassAdmin: { tier: 1, priority: 1, purpose: '`isolatedPass` of this tier' },
  nodeAllow: { tier: 2, priority: 1001, purpose: 'traffic of the node (its management port) to pods' },
  policyAllow: { tier: 2, priority: 1001, purpose: 'what network policies allow, and what no policy forbids' },
  policyDenyLogged: { tier: 2, priority: 1000, purpose: 'the next one, for pods of namespaces that have it logged' },
  policyDeny: { tier: 2, priority: 999, purpose: 'everything else of pods that a network policy isolates' },
  subjectPassPolicy: { tier: 2, priority: 1, purpose: '`isolatedPass` of this tier, for baseline policies' },
  baselineRules: {
    tier: 3,
    priority: 32_001,
    purpose: 'rules of baseline policies, in their order, down to 2: for pods that no network policy isolates',
  },
} as const satisfies Readonly<Record<string, AclRank>>;
