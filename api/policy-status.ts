/**
 * What an agent reports of network policies over its status socket: `GET /v1/policies`,
 * `/v1/policies?policy=NAMESPACE/NAME` (or `MultiNetworkPolicy/NAMESPACE/NAME`), `?pod=NAMESPACE/NAME`, `?sets=NAME,NAME`, `/v1/policy-end?…` for one end of a
 * connection, `/v1/policy-matrix/NAMESPACE[?network=NAME]` for all between the pods of one. udnctl reads it; the shapes grow, they do not change.
 */
import { z } from 'zod';

const directionSchema = z.enum(['Ingress', 'Egress']);
const stateSchema = z.enum(['ready', 'pending', 'error']);
const tierSchema = z.enum(['admin', 'baseline', 'firewall']);
const actionSchema = z.enum(['allow', 'deny', 'pass']);

export const policyStatusSchema = z.object({
  /** Absent: a NetworkPolicy. */
  kind: z.literal('MultiNetworkPolicy').optional(),
  /** Of a MultiNetworkPolicy: names of the networks that it is for, with commas. */
  networks: z.string().optional(),
  namespace: z.string(),
  name: z.string(),
  /** Directions in which it isolates the pods that it selects. */
  types: z.array(directionSchema),
  /** Why it cannot be followed: then it isolates and allows nothing. */
  problems: z.array(z.string()),
  /** What of it has no effect. */
  notes: z.array(z.string()).default([]),
  /** Pods of this node that it selects, `namespace/name`; of a MultiNetworkPolicy `namespace/name on NETWORK`. */
  targets: z.array(z.string()),
  /** How many rules it has on this node. */
  ruleCount: z.int(),
  /** How many pods the largest set of its peers has. */
  peerPods: z.int(),
  state: stateSchema,
  message: z.string().optional(),
});

export const policyRuleStatusSchema = z.object({
  id: z.string(),
  network: z.string(),
  direction: directionSchema,
  family: z.literal([4, 6]),
  /** In words: who may send, or be sent to. */
  peers: z.string(),
  /** Of a set of pods: how many are in it now. */
  peerPods: z.int().optional(),
  /** In words: `all traffic`, `TCP 80`. */
  ports: z.string(),
  stateless: z.boolean().optional(),
  /** What a log line shows. */
  log: z.string().optional(),
  /** Pods of this node. */
  targets: z.array(z.string()),
  /** Every policy that has it, `namespace/name`; MultiNetworkPolicies with their kind in front. */
  policies: z.array(z.string()),
  /** Its address set of targets: ACLs name it. */
  targetSet: z.string(),
  state: stateSchema,
  message: z.string().optional(),
});

/** A pod of this node that a policy selects. */
export const isolatedPodSchema = z.object({
  pod: z.string(),
  network: z.string(),
  /** It is about its attachments to this secondary network. */
  isAttachment: z.boolean().optional(),
  /** By an error of the agent's own, and not by policies: nothing is allowed. */
  isClosed: z.boolean().optional(),
  /** With the policies that isolate it. */
  directions: z.array(
    z.object({
      direction: directionSchema,
      policies: z.array(z.string()),
      /** The port group of its network that drops: ACLs name it. */
      denyGroup: z.string(),
      /** The one that drops and logs before, where its namespace has that. */
      logGroup: z.string().optional(),
    }),
  ),
  ruleCount: z.int(),
  state: stateSchema,
  message: z.string().optional(),
});

/** What a domain name stands for on this node. */
const domainStatusSchema = z.object({
  /** Without the dot of the root. */
  name: z.string(),
  state: z.enum(['unresolved', 'resolved', 'failed']),
  /** Of both families, on networks that do not have them themselves. */
  addresses: z.array(z.string()),
  /** Since the last answer; absent: there has been none. */
  answeredSecondsAgo: z.int().optional(),
  /** Why there is no answer. */
  problem: z.string().optional(),
  /** What of the answers does not count. */
  notes: z.array(z.string()),
});

/** An administrators' policy that pods of this node are subjects of. */
export const adminPolicyStatusSchema = z.object({
  /** `AdminNetworkPolicy/name` */
  policy: z.string(),
  tier: tierSchema,
  /** Why it cannot be followed as it is: what that closes, each says. */
  problems: z.array(z.string()).default([]),
  /** `namespace/name` */
  targets: z.array(z.string()),
  state: stateSchema,
  message: z.string().optional(),
  /** Domain names of rules that are programmed, and apply to nothing as no address is known; absent: none. */
  nameless: z.string().optional(),
  /** How many rules it has on this node. */
  ruleCount: z.int(),
  /** That its rules name, where it is asked about; absent from older agents. */
  domains: z.array(domainStatusSchema).optional(),
  /** Where it, or its sets, are asked about. */
  rules: z.array(
    z.object({
      ...{ id: z.string(), network: z.string(), direction: directionSchema, family: z.literal([4, 6]) },
      action: actionSchema,
      /** Of its ACL. */
      priority: z.int(),
      /** In words. */
      text: z.string(),
      /** Its address set of subjects: ACLs name it, also those of other rules of the policy. */
      subjectSet: z.string(),
    }),
  ),
});

export const policiesSchema = z.object({
  /** Policies, namespaces and pods have been read from the API server. */
  isRead: z.boolean(),
  policies: z.array(policyStatusSchema),
  /** Of the policy, or the sets, that are asked about. */
  rules: z.array(policyRuleStatusSchema),
  /** Of what is asked about, too. */
  pods: z.array(isolatedPodSchema),
  /** Of what is asked about, too; absent from agents that do not tell. */
  admin: z.array(adminPolicyStatusSchema).optional(),
  /** Why what is written may have no effect on packets: a daemon of the node fails. Absent from older agents, too. */
  doubt: z.string().optional(),
});

/**
 * `open`: no policy isolates the pod in this direction. `partly`: on some ports only, where none was asked for. `unknown`: this agent
 * cannot tell, which is not an answer.
 */
const verdictSchema = z.enum(['open', 'allowed', 'partly', 'denied', 'unknown']);

const endRuleSchema = z.object({
  id: z.string(),
  /** In words. */
  text: z.string(),
  policies: z.array(z.string()),
  /** Absent: all traffic. Ports are ranges with both ends in them; absent: every one of the protocol. */
  l4: z
    .object({
      protocol: z.enum(['tcp', 'udp', 'sctp']),
      ports: z.array(z.tuple([z.int(), z.int()])).optional(),
    })
    .optional(),
  /** What of the packet it does not let through; absent: it lets it through. */
  lacks: z.string().optional(),
});

/** A rule of an administrators' policy that decides about a part of what is asked, or passes it on. */
const endAdminRuleSchema = z.object({
  id: z.string(),
  /** In words. */
  text: z.string(),
  /** `AdminNetworkPolicy/name` */
  policy: z.string(),
  tier: tierSchema,
  action: actionSchema,
});

const portsSchema = z.object({
  /** `other` is all that has no ports; absent: every protocol. */
  protocol: z.enum(['tcp', 'udp', 'sctp', 'other']).optional(),
  first: z.int(),
  last: z.int(),
});

export const endFamilySchema = z.object({
  family: z.literal([4, 6]),
  verdict: verdictSchema,
  /** What is let through of what is asked for; absent from older agents: what the rules let through. */
  lets: z.array(portsSchema).optional(),
  /** In the order in which they are evaluated: those of tier `admin` before `rules`, the others after them. */
  admin: z.array(endAdminRuleSchema).optional(),
  /** That let the packet through first. */
  rules: z.array(endRuleSchema),
});

/** What policies of the pod say at its end of a connection. */
export const policyEndSchema = z.object({
  pod: z.string(),
  direction: directionSchema,
  /** `namespace/name`, or an address. */
  peer: z.string(),
  verdict: verdictSchema,
  /** Why, in a sentence. */
  message: z.string(),
  network: z.string().optional(),
  /** Of the peer on it. */
  peerAddresses: z.array(z.string()).default([]),
  /** Policies that isolate the pod in this direction. */
  isolatedBy: z.array(z.string()),
  families: z.array(endFamilySchema),
  /** What cannot be followed of firewalls and administrators' policies that the pod is a subject of; absent: nothing, or an older agent. */
  notFollowed: z.array(z.string()).optional(),
  /** What of it is not programmed, or which daemon does not follow: until then packets may fare differently. */
  notProgrammed: z.string().optional(),
});

/** Between the pods of a namespace: the ends of those of this node, with the rules that let something through. */
export const policyMatrixSchema = z.object({
  /** Of all nodes. */
  pods: z.array(z.string()),
  ends: z.array(policyEndSchema),
  /** Why there are none. */
  message: z.string().optional(),
  /** The secondary network that it is about; absent: the pods' own, and from older agents. */
  network: z.string().optional(),
});

export type PolicyMatrixStatus = z.output<typeof policyMatrixSchema>;
export type PoliciesStatus = z.output<typeof policiesSchema>;
export type PolicyStatus = z.output<typeof policyStatusSchema>;
export type PolicyRuleStatus = z.output<typeof policyRuleStatusSchema>;
export type IsolatedPodStatus = z.output<typeof isolatedPodSchema>;
export type PolicyVerdict = z.output<typeof verdictSchema>;
export type EndAdminRuleStatus = z.output<typeof endAdminRuleSchema>;
export type DomainStatus = z.output<typeof domainStatusSchema>;
export type AdminPolicyStatus = z.output<typeof adminPolicyStatusSchema>;
export type EndRuleStatus = z.output<typeof endRuleSchema>;
export type EndFamilyStatus = z.output<typeof endFamilySchema>;
export type PolicyEndStatus = z.output<typeof policyEndSchema>;
