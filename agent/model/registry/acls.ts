/** Tiers and priorities of our ACLs. OVN evaluates tier 0 first, and within a tier the highest priority wins. */

export interface AclRank {
  readonly tier: number;
  readonly priority: number;
  readonly purpose: string;
}

export const ACL_RANKS = {
  serverAnswers: { tier: 0, priority: 1100, purpose: 'drop what a pod says as a DHCP server' },
  isolationAllow: {
    tier: 0,
    priority: 1001,
    purpose: 'what a pod of a primary network may do on its default interface',
  },
  isolationDeny: { tier: 0, priority: 1000, purpose: 'everything else on the default interface of such a pod' },
  nodeAllow: { tier: 2, priority: 1001, purpose: 'what the node itself, its management port, sends to pods' },
} as const satisfies Readonly<Record<string, AclRank>>;
