/**
 * What the policies of a pod say at its end of a connection: of the target of ingress, or of the source of egress. The other end is asked
 * of the agent of its own node. Read off the facts that rows are made of, so it says what is meant to be programmed.
 */
import type { EndFamilyStatus, EndRuleStatus, PolicyEndStatus, PolicyVerdict } from '../../../api/policy-status.ts';
import { worst } from '../../../base/reconciler.ts';
import { cidrContainsIp } from '../../../net/cidr.ts';
import { type Ip, ipFamily, isIp } from '../../../net/ip.ts';
import type {
  PodPolicyFact,
  PolicyDirection,
  PolicyPorts,
  PolicyProtocol,
  PolicyRuleFact,
} from '../../model/policies/facts.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { isolatingPolicies } from './isolated-pods.ts';
import { type PeerEnd, peersOf } from './peer-end.ts';
import type { PolicyReportSources } from './sources.ts';
import { portsText, ruleText } from './words.ts';

export interface EndQuestion {
  /** `namespace/name` */
  readonly pod: string;
  readonly direction: PolicyDirection;
  /** `namespace/name`, or an address. */
  readonly peer: string;
  /** Absent: what is let through at all. */
  readonly packet?: { readonly protocol: PolicyProtocol; readonly port: number } | undefined;
}

export const reportPodEnd = (sources: PolicyReportSources, question: EndQuestion): PolicyEndStatus => {
  const end = podEnd(sources, question);
  const { pod, direction } = question;
  return end.families.length === 0
    ? end
    : { ...end, isolatedBy: isolatingPolicies(sources.policyLookup, pod, direction) };
};

/** Without who isolates the pod: for that, all policies are looked at. */
export const podEnd = (sources: PolicyReportSources, question: EndQuestion): PolicyEndStatus => {
  const { facts, policyLookup } = sources;
  const { pod, direction, peer } = question;
  const end = (verdict: PolicyVerdict, message: string, more: Partial<PolicyEndStatus> = {}): PolicyEndStatus => ({
    ...{ pod, direction, peer, verdict, message, peerAddresses: [], isolatedBy: [], families: [] },
    ...more,
  });
  if (!policyLookup.isRead()) return end('unknown', NOT_READ);
  const own = policyLookup.pod(pod);
  if (own === undefined) return end('unknown', notKnown(pod));
  if (!own.isLocal) return end('unknown', `${pod} is on another node, whose agent knows`);
  if (own.finished) return end('unknown', `${pod} has ended`);
  if (peer === pod) return end('open', 'what a pod sends to itself passes no policy');
  const fact = facts.get('podPolicy', pod);
  const other = peersOf(sources, peer, own, fact?.network);
  const network = {
    ...(other.network !== undefined && { network: other.network }),
    peerAddresses: [...other.addresses],
  };
  if (other.problem !== undefined) return end(other.verdict, other.problem, network);
  if (fact === undefined || !fact.isolated.includes(direction)) {
    const message = `no policy isolates ${pod} for ${direction}`;
    return end('open', message, { ...network, ...lackingOf(sources, question, []) });
  }
  const families = familiesOf(sources, fact, question, other);
  const verdict = together(families.map((one) => one.verdict));
  return end(verdict, sentenceOf(verdict, question), {
    ...network,
    families,
    ...lackingOf(sources, question, families),
  });
};

/** Of all that makes the answer: the drop, the rules that let through, and who is in their sets. */
const lackingOf = (
  { facts, reconcilers, ownersOver }: PolicyReportSources,
  { pod, peer }: EndQuestion,
  families: readonly EndFamilyStatus[],
): Pick<PolicyEndStatus, 'notProgrammed'> => {
  const group = facts.get('podPolicy', pod)?.denyGroup;
  const letting = families.flatMap(({ rules }) => rules.filter(({ lacks }) => lacks === undefined));
  const owners = [
    ...ownersOver('pod', pod),
    ...(group === undefined ? [] : ownersOver('denyGroup', group)),
    ...letting.flatMap(({ id }) => ownersOver('policyRule', id)),
    ...(isIp(peer) ? [] : ownersOver('policyPeer', peer)),
  ];
  const { kind, message } = worst(owners.map((owner) => statusOf(reconcilers, owner)));
  return kind === 'done' || kind === 'unsupported' ? {} : { notProgrammed: message ?? 'rows are not written yet' };
};

const NOT_READ = 'policies are not read from the API server yet: what was programmed before is in effect';

const notKnown = (pod: string): string =>
  `${pod} is not known here: there is no such pod, or it is on the network of its node, where policies do not apply`;

const familiesOf = (
  sources: PolicyReportSources,
  { rules }: PodPolicyFact,
  question: EndQuestion,
  { addresses }: PeerEnd,
): EndFamilyStatus[] => {
  const own = rules.flatMap((id) => {
    const rule = sources.facts.get('policyRule', id);
    return rule?.direction === question.direction ? [{ id, rule }] : [];
  });
  const families = [...new Set(addresses.map(ipFamily))].sort();
  return families.map((family) => {
    const ips = addresses.filter((ip) => ipFamily(ip) === family);
    const found = own
      .filter(({ rule }) => rule.family === family)
      .map(({ id, rule }) => endRule(sources, { id, rule, ips }, question))
      .sort((a, b) => Number(a.lacks !== undefined) - Number(b.lacks !== undefined));
    return { family, verdict: verdictOf(found, question), rules: found };
  });
};

interface Candidate {
  readonly id: string;
  readonly rule: PolicyRuleFact;
  readonly ips: readonly Ip[];
}

const endRule = (
  { facts, policyLookup }: PolicyReportSources,
  { id, rule, ips }: Candidate,
  { peer, packet }: EndQuestion,
): EndRuleStatus => {
  const lacks = !ips.every((ip) => hasPeer(facts, rule, peer, ip))
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

const hasPeer = (facts: PolicyReportSources['facts'], { peers }: PolicyRuleFact, peer: string, ip: Ip): boolean => {
  if (peers.kind === 'any') return true;
  if (peers.kind === 'blocks') return peers.blocks.some((block) => cidrContainsIp(block, ip));
  const candidates = isIp(peer) ? facts.ids('policyPeer') : [peer];
  for (const key of candidates) if (facts.get('policyPeer', key)?.sets.get(peers.set)?.includes(ip)) return true;
  return false;
};

const letsPort = (l4: PolicyPorts | undefined, { protocol, port }: NonNullable<EndQuestion['packet']>): boolean => {
  if (l4 === undefined) return true;
  if (l4.protocol !== protocol) return false;
  return (
    l4.ports?.some((term) => (typeof term === 'number' ? term === port : term[0] <= port && port <= term[1])) ?? true
  );
};

const verdictOf = (rules: readonly EndRuleStatus[], { packet }: EndQuestion): PolicyVerdict => {
  const letting = rules.filter(({ lacks }) => lacks === undefined);
  if (letting.length === 0) return 'denied';
  if (packet !== undefined) return 'allowed';
  return letting.some(({ l4 }) => l4 === undefined) ? 'allowed' : 'partly';
};

/** Of both families: names are resolved to either. */
const together = (verdicts: readonly PolicyVerdict[]): PolicyVerdict => {
  const [first = 'denied', ...others] = new Set(verdicts);
  return others.length === 0 ? first : 'partly';
};

const sentenceOf = (verdict: PolicyVerdict, { pod, direction, peer, packet }: EndQuestion): string => {
  const what = packet === undefined ? '' : ` on ${packet.protocol.toUpperCase()} ${packet.port}`;
  const way = direction === 'Ingress' ? `${peer} to ${pod}` : `${pod} to ${peer}`;
  if (verdict === 'denied') return `no rule for ${direction} of ${pod} lets ${way}${what} through`;
  if (verdict === 'partly') return `rules for ${direction} of ${pod} let a part of ${way}${what} through`;
  return `a rule for ${direction} of ${pod} lets ${way}${what} through`;
};
