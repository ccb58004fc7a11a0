/** Policies of administrators, of all kinds, in one form. */
import type { Cidr } from '../../net/cidr.ts';
import type { DomainName } from '../../net/domain-name.ts';
import type { LabelSelector } from '../label-selector.ts';

export const ADMIN_POLICY_KINDS = ['AdminNetworkPolicy', 'BaselineAdminNetworkPolicy', 'ClusterNetworkPolicy'] as const;
export type AdminPolicyKind = (typeof ADMIN_POLICY_KINDS)[number];

/** Whose rules have an order: the first that matches decides. */
export type RankedKind = AdminPolicyKind | 'EgressFirewall';

/**
 * `admin` is evaluated before network policies, `baseline` after them, for pods that none of them isolates. `firewall` is beside them: of what
 * leaves the cluster both must let a packet through.
 */
export type AdminTier = 'admin' | 'baseline' | 'firewall';

export interface AdminPolicy {
  readonly kind: RankedKind;
  /** With its namespace, where it has one: `red/default`. */
  readonly name: string;
  /** Absent: of the whole cluster. */
  readonly namespace?: string | undefined;
  readonly uid: string | undefined;
  /** Of a firewall: its version, which nodes report. */
  readonly generation?: number | undefined;
  readonly tier: AdminTier;
  /** Among the policies of its tier the lowest is evaluated first. */
  readonly priority: number;
  readonly subject: Subject;
  /** The first that matches decides. */
  readonly ingress: readonly AdminRule[];
  readonly egress: readonly AdminRule[];
  /** What of the rules cannot be followed, for people. */
  readonly findings: readonly string[];
}

/** Without `namespaces`: pods of the policy's own. */
export type Subject = Pick<NamespacedPods, 'pods'> & Partial<NamespacedPods>;

/** Pods of namespaces: `{}` selects all. */
export interface NamespacedPods {
  readonly namespaces: LabelSelector;
  readonly pods: LabelSelector;
}

export type AdminAction = 'allow' | 'deny' | 'pass';

export interface AdminRule {
  readonly name?: string | undefined;
  readonly action: AdminAction;
  /** Empty: it matches nothing. */
  readonly peers: readonly AdminPeer[];
  /** Empty: all traffic. */
  readonly ports: readonly AdminPort[];
}

export type AdminPeer =
  /** Everybody, also whom no selector can name: only of a rule that cannot be read. */
  | { readonly kind: 'any' }
  | ({ readonly kind: 'pods' } & NamespacedPods)
  | { readonly kind: 'nodes'; readonly nodes: LabelSelector }
  | { readonly kind: 'networks'; readonly blocks: readonly Cidr[] }
  /** Of administrators' rules only where they allow. */
  | { readonly kind: 'domains'; readonly names: readonly DomainName[] };

export type AdminPort =
  | {
      readonly kind: 'number';
      readonly protocol: 'tcp' | 'udp' | 'sctp';
      /** Absent: all of the protocol. */
      readonly port?: number | readonly [first: number, last: number] | undefined;
    }
  /** Of whatever protocol the container port with the name is. */
  | { readonly kind: 'name'; readonly name: string };
