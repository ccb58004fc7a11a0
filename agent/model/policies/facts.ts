/**
 * Network policies as OVN needs them: rules, peer sets, and which of them a pod is in. Policies that need the same share it, so that
 * a policy more of the same kind costs a node nothing but memberships (docs/adr/0111).
 */
import type { AdminAction, AdminTier } from '../../../api/admin-policy/types.ts';
import type { Cidr } from '../../../net/cidr.ts';
import type { DomainName } from '../../../net/domain-name.ts';
import type { Family, Ip } from '../../../net/ip.ts';

export type PolicyDirection = 'Ingress' | 'Egress';
export type PolicyProtocol = 'tcp' | 'udp' | 'sctp';

/** One port, or a range with both ends in it. */
export type PortTerm = number | readonly [first: number, last: number];

/** Without ports: every one of the protocol. */
export interface PolicyPorts {
  readonly protocol: PolicyProtocol;
  readonly ports?: readonly PortTerm[] | undefined;
}

/** Who may send to the targets, or whom they may send to. */
export type PolicyPeers =
  | { readonly kind: 'any' }
  /** Prefixes of the rule's family that do not overlap, ordered. */
  | { readonly kind: 'blocks'; readonly blocks: readonly Cidr[] }
  /** The addresses of a peer set of the rule's family. */
  | { readonly kind: 'set'; readonly set: string };

/** RFC 5424 names as OVN has them: ovn-nb(5), `severity` of ACL. */
export type AclSeverity = 'alert' | 'warning' | 'notice' | 'info' | 'debug';

export interface AclLog {
  /** What the log line shows: of a rule `NP:namespace/name:Ingress`. */
  readonly name: string;
  readonly severity: AclSeverity;
}

/** Traffic that is allowed: of the targets that are in it, with its peers. It exists while a pod of this node is in it. */
export interface PolicyRuleFact {
  /** Name of the network. */
  readonly network: string;
  readonly direction: PolicyDirection;
  readonly family: Family;
  readonly peers: PolicyPeers;
  /** Absent: all traffic. */
  readonly l4?: PolicyPorts | undefined;
  /** By the annotation `k8s.ovn.org/acl-stateless`: no connection tracking. */
  readonly stateless?: true | undefined;
  /** Its own only where the namespace of its policy has its ACLs logged. */
  readonly log?: AclLog | undefined;
}

/** What a rule of an administrators' policy decides for its subjects on one network. It exists while a pod of this node is one. */
export interface AdminRuleFact {
  readonly network: string;
  readonly direction: PolicyDirection;
  readonly family: Family;
  readonly tier: AdminTier;
  /** OVN's: the highest that matches decides. */
  readonly priority: number;
  readonly action: AdminAction;
  /** Id of a subject set. */
  readonly subjects: string;
  readonly peers: AdminPeers;
  /** Absent: all traffic. */
  readonly l4?: PolicyPorts | undefined;
  /** `AdminNetworkPolicy/name` */
  readonly policy: string;
}

/** Nodes come and go without another rule: their addresses, sorted, are a set. So do the addresses of domain names: `sets` are ids of theirs. */
export type AdminPeers =
  | PolicyPeers
  | { readonly kind: 'nodes'; readonly addresses: readonly Ip[] }
  | { readonly kind: 'domains'; readonly sets: readonly string[] };

/** Pods of this node that rules of one administrators' policy are about. It exists while one is in it. */
export interface SubjectSetFact {
  readonly network: string;
  /** `AdminNetworkPolicy/name` */
  readonly policy: string;
  readonly tier: AdminTier;
  /** Those that have a named port of one number, `http/tcp=8080`; absent: all that the policy is about. */
  readonly port?: string | undefined;
  /** Ids of rules that deny or pass something: no pod may be in the set without these, or what comes after them would allow more. */
  readonly drops: readonly string[];
}

/** Pods of a network, by selectors. It exists while a rule names it. */
export interface PeerSetFact {
  readonly network: string;
  /** Of the rules that name it: a set of another family is named by nothing. */
  readonly families: readonly Family[];
  /** The selectors in canonical form, for people. */
  readonly selects: string;
}

/**
 * What a domain name stands for on a network, as an address set of each family, `domainSetName`. It exists while a rule names it; its
 * addresses follow the fact `domainAddresses` of the name, and no rule changes with them.
 */
export interface DomainSetFact {
  readonly network: string;
  readonly name: DomainName;
  /** Tenants name it: it takes no room of administrators' names. Both may have a set of one name. */
  readonly isForFirewalls?: boolean | undefined;
}

/** A pod of this node that a policy selects; one that only administrators' policies select is not isolated. */
export interface PodPolicyFact {
  /** Where it is a target: its primary network, or the default one. */
  readonly network: string;
  readonly isolated: readonly PolicyDirection[];
  /** Of its namespace; see `DenyGroupFact`. Empty for a pod that is not isolated. */
  readonly denyGroup: string;
  /** Ids of rules, sorted. */
  readonly rules: readonly string[];
  /** Ids of subject sets, sorted; absent: it is in none. */
  readonly subjects?: readonly string[] | undefined;
  /** By an error of the agent's own, and not by policies. */
  readonly isClosed?: true;
}

/** A group of isolated pods of one network whose drops are logged alike. It exists while a pod of this node is in it. */
export interface DenyGroupFact {
  readonly network: string;
  /** Absent: drops are not logged. */
  readonly log?: { readonly namespace: string; readonly severity: AclSeverity } | undefined;
}

/** A pod of any node that is in peer sets which exist. */
export interface PolicyPeerFact {
  /** By the id of the set. */
  readonly sets: ReadonlyMap<string, readonly Ip[]>;
}
