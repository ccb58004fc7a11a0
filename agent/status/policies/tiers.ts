/**
 * What is let through of a direction of a pod, worked out as OVN does: administrators' rules by priority, network policies where one
 * isolates the pod, else baseline rules; what nothing decides about passes (docs/admin-policy.md). Then what leaves the cluster meets the
 * firewall of the pod's namespace (docs/egress-firewall.md). Pure.
 */
import type { AdminTier } from '../../../api/admin-policy/types.ts';
import { both, EVERYTHING, merged, type Ports, without } from '../../../net/port-regions.ts';
import type { AdminRuleFact, PolicyPorts } from '../../model/policies/facts.ts';

export interface AdminCandidate {
  readonly id: string;
  readonly rule: Pick<AdminRuleFact, 'action' | 'tier' | 'priority' | 'l4'>;
}

export interface Tiers<Candidate extends AdminCandidate> {
  /** What is asked about. */
  readonly asked: readonly Ports[];
  /** Those with the peer, and of a firewall only where it is about the peer. */
  readonly admin: readonly Candidate[];
  /** What network policies let through; undefined: none isolates the pod. */
  readonly networkPolicies: readonly Ports[] | undefined;
}

export interface Decided<Candidate extends AdminCandidate> {
  readonly lets: readonly Ports[];
  /** In their order: those that some of it comes to. */
  readonly admin: readonly Candidate[];
  /** What network policies are left to decide about. */
  readonly reaching: readonly Ports[];
}

export const decide = <Candidate extends AdminCandidate>(given: Tiers<Candidate>): Decided<Candidate> => {
  const decided = decideByPolicies(given);
  const { allowed, goesOn, hits } = throughTier(ofTier(given.admin, 'firewall'), decided.lets);
  if (hits.length === 0) return decided;
  return { ...decided, lets: merged([...allowed, ...goesOn]), admin: [...decided.admin, ...hits] };
};

const decideByPolicies = <Candidate extends AdminCandidate>({
  asked,
  admin,
  networkPolicies,
}: Tiers<Candidate>): Decided<Candidate> => {
  const first = throughTier(ofTier(admin, 'admin'), asked);
  const reaching = first.goesOn;
  if (networkPolicies !== undefined) {
    const lets = merged([...first.allowed, ...both(reaching, networkPolicies)]);
    return { lets, admin: first.hits, reaching };
  }
  const last = throughTier(ofTier(admin, 'baseline'), reaching);
  const lets = merged([...first.allowed, ...last.allowed, ...last.goesOn]);
  return { lets, admin: [...first.hits, ...last.hits], reaching };
};

export const l4Region = (l4: PolicyPorts | undefined): readonly Ports[] => {
  if (l4 === undefined) return [EVERYTHING];
  const { protocol, ports } = l4;
  if (ports === undefined) return [{ ...EVERYTHING, protocol }];
  return ports.map((term) => {
    const [first, last] = typeof term === 'number' ? [term, term] : term;
    return { protocol, first, last };
  });
};

/** OVN evaluates the highest priority first. */
const ofTier = <Candidate extends AdminCandidate>(all: readonly Candidate[], tier: AdminTier): readonly Candidate[] =>
  all.filter(({ rule }) => rule.tier === tier).sort((a, b) => b.rule.priority - a.rule.priority);

const throughTier = <Candidate extends AdminCandidate>(ordered: readonly Candidate[], reaching: readonly Ports[]) => {
  const [allowed, passed]: [Ports[], Ports[]] = [[], []];
  const hits: Candidate[] = [];
  let left = reaching;
  for (const candidate of ordered) {
    if (left.length === 0) break;
    const { action, l4 } = candidate.rule;
    const ports = l4Region(l4);
    const hit = both(left, ports);
    if (hit.length === 0) continue;
    hits.push(candidate);
    left = without(left, ports);
    if (action === 'allow') allowed.push(...hit);
    if (action === 'pass') passed.push(...hit);
  }
  return { allowed, hits, goesOn: merged([...passed, ...left]) };
};
