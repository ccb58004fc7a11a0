/**
 * What the policies of a pod say at its end of a connection: of the target of ingress, or of the source of egress. The other end is asked
 * of the agent of its own node. Read off the facts that rows are made of, so it says what is meant to be programmed.
 */
import type { EndFamilyStatus, EndRuleStatus, PolicyEndStatus, PolicyVerdict } from '../../../api/policy-status.ts';
import { worst } from '../../../base/reconciler.ts';
import { type Family, type Ip, ipFamily, isIp } from '../../../net/ip.ts';
import { both, EVERYTHING, isEverything, merged, type Ports } from '../../../net/port-regions.ts';
import type {
  PodPolicyFact,
  PolicyDirection,
  PolicyPorts,
  PolicyProtocol,
  PolicyRuleFact,
} from '../../model/policies/facts.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { type AdminRules, adminRulesOf, endAdminRule, type KnownAdminRule, rulesAbout } from './admin-rules.ts';
import { idOn } from './end-id.ts';
import { isExempt } from './exempt.ts';
import { hasPeer } from './has-peer.ts';
import { isolatingPolicies } from './isolated-pods.ts';
import { notFollowed } from './not-followed.ts';
import { attachedPeer, notAttached, type PeerEnd, peersOf } from './peer-end.ts';
import type { PolicyReportSources } from './sources.ts';
import { decide, l4Region } from './tiers.ts';
import { portsText, ruleText } from './words.ts';

export interface EndQuestion {
  /** `namespace/name` */
  readonly pod: string;
  readonly direction: PolicyDirection;
  /** `namespace/name`, or an address. */
  readonly peer: string;
  /** Name of a secondary network that both are attached to; absent: the pod's own. */
  readonly network?: string | undefined;
  /** Absent: what is let through at all. */
  readonly packet?: { readonly protocol: PolicyProtocol; readonly port: number } | undefined;
}

export const reportPodEnd = (sources: PolicyReportSources, question: EndQuestion): PolicyEndStatus => {
  const end = podEnd(sources, question);
  const { pod, direction, network } = question;
  const unfollowed = notFollowed(sources, question);
  return {
    ...end,
    ...(end.families.length > 0 && {
      isolatedBy: isolatingPolicies(sources.policyLookup, idOn(pod, network), direction),
    }),
    ...(unfollowed.length > 0 && { notFollowed: unfollowed }),
  };
};

/** Without who isolates the pod: for that, all policies are looked at. */
export const podEnd = (
  sources: PolicyReportSources,
  question: EndQuestion,
  adminRules: AdminRules = adminRulesOf(sources.facts),
): PolicyEndStatus => {
  const { facts, policyLookup } = sources;
  const { pod, direction, peer } = question;
  const end = (verdict: PolicyVerdict, message: string, more: Partial<PolicyEndStatus> = {}): PolicyEndStatus => ({
    ...{ pod, direction, peer, verdict, message, peerAddresses: [], isolatedBy: [], families: [] },
    ...more,
  });
  if (!policyLookup.isRead()) return end('unknown', NOT_READ);
  const own = policyLookup.pod(pod);
  if (own === undefined) return end('unknown', notKnown(pod));
  if (own.isHost === true) return end('unknown', `${pod} is on the network of its node, where no policy isolates it`);
  if (own.finished) return end('unknown', `${pod} has ended`);
  if (!own.isLocal)
    return end(
      'unknown',
      own.node === undefined ? `${pod} has no node yet` : `${pod} is on another node, whose agent knows`,
    );
  if (peer === pod) return end('open', 'what a pod sends to itself passes no policy');
  const notThere = question.network === undefined ? undefined : notAttached(facts, pod, own, question.network);
  if (notThere !== undefined) return end('unknown', notThere);
  const fact = facts.get('podPolicy', idOn(pod, question.network));
  const other =
    question.network === undefined
      ? peersOf(sources, question, own, fact?.network)
      : attachedPeer(sources, peer, question.network);
  const network = {
    ...(other.network !== undefined && { network: other.network }),
    peerAddresses: [...other.addresses],
  };
  if (other.problem !== undefined) return end(other.verdict, other.problem, network);
  const isIsolated = fact?.isolated.includes(direction) === true;
  const about = rulesAbout(adminRules, fact).filter(({ rule }) => rule.direction === direction);
  const families =
    fact !== undefined && (isIsolated || about.length > 0)
      ? familiesOf(sources, { fact, isIsolated, about }, question, other)
      : [];
  if (families.every((one) => one.verdict === 'open')) {
    const message = `no policy isolates ${pod} for ${direction}`;
    const more = about.length === 0 ? '' : ', and no rule of an administrators’ policy is about this';
    return end('open', `${message}${more}`, { ...network, ...lackingOf(sources, question, []) });
  }
  const verdict = together(families.map((one) => one.verdict));
  return end(verdict, sentenceOf(verdict, question, families), {
    ...network,
    families: families.map(({ reachesPolicies: _, ...family }) => family),
    ...lackingOf(sources, question, families),
  });
};

/** Of all that makes the answer: the drop, the rules that let through, and who is in their sets. */
const lackingOf = (
  { facts, reconcilers, ownersOver, failureToFollow }: PolicyReportSources,
  { pod, peer, network }: EndQuestion,
  families: readonly EndFamilyStatus[],
): Pick<PolicyEndStatus, 'notProgrammed'> => {
  const { denyGroup: group = '', subjects = [] } = facts.get('podPolicy', idOn(pod, network)) ?? {};
  const letting = families.flatMap(({ rules }) => rules.filter(({ lacks }) => lacks === undefined));
  const owners = [
    ...ownersOver('pod', pod),
    ...(group === '' ? [] : ownersOver('denyGroup', group)),
    ...letting.flatMap(({ id }) => ownersOver('policyRule', id)),
    ...subjects.flatMap((set) => ownersOver('subjectSet', set)),
    ...families.flatMap(({ admin = [] }) => admin.flatMap(({ id }) => ownersOver('adminRule', id))),
    ...(isIp(peer) ? [] : ownersOver('policyPeer', idOn(peer, network))),
  ];
  const { kind, message } = worst(owners.map((owner) => statusOf(reconcilers, owner)));
  const notProgrammed =
    kind === 'done' || kind === 'unsupported' ? failureToFollow() : (message ?? 'rows are not written yet');
  return notProgrammed === undefined ? {} : { notProgrammed };
};

export const NOT_READ = 'policies are not read from the API server yet: what was programmed before is in effect';

const notKnown = (pod: string): string => `${pod} is not known here: there is no such pod`;

interface Policies {
  readonly fact: PodPolicyFact;
  readonly isIsolated: boolean;
  /** Administrators' rules of the direction. */
  readonly about: readonly KnownAdminRule[];
}

interface EndFamily extends EndFamilyStatus {
  /** Administrators leave something for network policies to decide. */
  readonly reachesPolicies: boolean;
}

const familiesOf = (
  sources: PolicyReportSources,
  policies: Policies,
  question: EndQuestion,
  { addresses }: PeerEnd,
): EndFamily[] => {
  const families = [...new Set(addresses.map(ipFamily))].sort();
  return families.map((family) => {
    const ips = addresses.filter((ip) => ipFamily(ip) === family);
    const rules = policies.isIsolated ? rulesFor(sources, policies.fact, { family, ips }, question) : [];
    return familyEnd(sources, policies, question, { family, ips, rules });
  });
};

interface OfFamily {
  readonly family: Family;
  readonly ips: readonly Ip[];
}

const rulesFor = (
  sources: PolicyReportSources,
  { rules }: PodPolicyFact,
  { family, ips }: OfFamily,
  question: EndQuestion,
): EndRule[] =>
  rules.flatMap((id) => {
    const rule = sources.facts.get('policyRule', id);
    const isAsked = rule?.direction === question.direction && rule.family === family;
    return isAsked ? [{ rule, status: endRule(sources, { id, rule, ips }, question) }] : [];
  });

interface EndRule {
  readonly rule: PolicyRuleFact;
  readonly status: EndRuleStatus;
}

/** What not all addresses of the peer get is not let through. */
const familyEnd = (
  sources: PolicyReportSources,
  { isIsolated, about, fact: { network } }: Policies,
  { peer, packet }: EndQuestion,
  { family, ips, rules }: OfFamily & { readonly rules: readonly EndRule[] },
): EndFamily => {
  const asked = packet === undefined ? [EVERYTHING] : l4Region({ protocol: packet.protocol, ports: [packet.port] });
  const letting = rules.filter(({ status }) => status.lacks === undefined);
  const networkPolicies = isIsolated ? letting.flatMap(({ rule }) => l4Region(rule.l4)) : undefined;
  const decided = ips.map((ip) => {
    const isFiltered = !isExempt(sources, network, ip);
    const admin = about.filter(
      ({ rule }) =>
        rule.family === family &&
        (isFiltered || rule.tier !== 'firewall') &&
        hasPeer(sources.facts, rule.peers, peer, ip),
    );
    return decide({ asked, admin, networkPolicies });
  });
  const lets = decided.map((one) => one.lets).reduce(both, asked);
  const reaching = merged(decided.flatMap((one) => one.reaching));
  const hits = [...new Set(decided.flatMap((one) => one.admin))].slice(0, MAX_ADMIN_RULES);
  return {
    ...{ family, lets: [...lets], verdict: verdictOf(lets, packet, isIsolated || hits.length > 0) },
    rules: rules
      .map(({ rule, status }) =>
        hits.length === 0 || status.lacks !== undefined
          ? status
          : afterAdmin(status, both(reaching, l4Region(rule.l4))),
      )
      .sort((a, b) => Number(a.lacks !== undefined) - Number(b.lacks !== undefined)),
    ...(hits.length > 0 && { admin: hits.map((hit) => endAdminRule(sources, hit)) }),
    reachesPolicies: isIsolated && reaching.length > 0,
  };
};

/** Of a packet at most two per address decide. */
const MAX_ADMIN_RULES = 50;

const afterAdmin = (rule: EndRuleStatus, reached: readonly Ports[]): EndRuleStatus =>
  reached.length > 0 ? rule : { ...rule, lacks: 'a policy of administrators decides before it' };

interface Candidate {
  readonly id: string;
  readonly rule: PolicyRuleFact;
  readonly ips: readonly Ip[];
}

const endRule = (
  { facts, policyLookup }: PolicyReportSources,
  { id, rule, ips }: Candidate,
  { peer, packet, network }: EndQuestion,
): EndRuleStatus => {
  const peerId = isIp(peer) ? peer : idOn(peer, network);
  const lacks = !ips.every((ip) => hasPeer(facts, rule.peers, peerId, ip))
    ? `${peer} is not among its peers`
    : packet !== undefined && !letsPort(rule.l4, packet)
      ? `it is for ${portsText(rule.l4)}`
      : undefined;
  return {
    id,
    text: ruleText(rule, facts),
    policies: [...policyLookup.policiesOfRule(id)].sort(),
    ...(rule.l4 !== undefined && { l4: l4Status(rule.l4) }),
    ...(lacks !== undefined && { lacks }),
  };
};

const l4Status = ({ protocol, ports }: PolicyPorts): NonNullable<EndRuleStatus['l4']> => ({
  protocol,
  ...(ports !== undefined && {
    ports: ports.map((term): [number, number] => (typeof term === 'number' ? [term, term] : [...term])),
  }),
});

const letsPort = (l4: PolicyPorts | undefined, { protocol, port }: NonNullable<EndQuestion['packet']>): boolean => {
  if (l4 === undefined) return true;
  if (l4.protocol !== protocol) return false;
  return (
    l4.ports?.some((term) => (typeof term === 'number' ? term === port : term[0] <= port && port <= term[1])) ?? true
  );
};

const verdictOf = (lets: readonly Ports[], packet: EndQuestion['packet'], isDecided: boolean): PolicyVerdict => {
  if (!isDecided) return 'open';
  if (lets.length === 0) return 'denied';
  return packet !== undefined || isEverything(lets) ? 'allowed' : 'partly';
};

/** Of both families: names are resolved to either. */
const together = (verdicts: readonly PolicyVerdict[]): PolicyVerdict => {
  const [first = 'denied', ...others] = new Set(verdicts.map((one) => (one === 'open' ? 'allowed' : one)));
  return others.length === 0 ? first : 'partly';
};

const sentenceOf = (
  verdict: PolicyVerdict,
  { pod, direction, peer, packet }: EndQuestion,
  families: readonly EndFamily[],
): string => {
  const what = packet === undefined ? '' : ` on ${packet.protocol.toUpperCase()} ${packet.port}`;
  const way = `${direction === 'Ingress' ? `${peer} to ${pod}` : `${pod} to ${peer}`}${what}`;
  const hits = families.flatMap(({ admin = [] }) => admin.filter(({ action }) => action !== 'pass'));
  // It is asked about what all others let through.
  const firewall = hits.find(({ tier, action }) => tier === 'firewall' && action === 'deny');
  if (verdict === 'denied' && firewall !== undefined) return `${firewall.policy} denies ${way}`;
  const byAdmin = [...new Set(hits.map(({ policy }) => policy))].join(', ');
  if (!families.some(({ reachesPolicies }) => reachesPolicies)) {
    if (byAdmin === '') return `no policy forbids ${way}`;
    if (verdict === 'denied') return `${byAdmin} denies ${way}`;
    return verdict === 'allowed' ? `${byAdmin} allows ${way}` : `a part of ${way} passes, by ${byAdmin}`;
  }
  const also = byAdmin === '' ? '' : `; of a part ${byAdmin} decides`;
  if (verdict === 'denied') return `no rule for ${direction} of ${pod} lets ${way} through${also}`;
  if (verdict === 'partly') return `rules for ${direction} of ${pod} let a part of ${way} through${also}`;
  return `a rule for ${direction} of ${pod} lets ${way} through${also}`;
};
