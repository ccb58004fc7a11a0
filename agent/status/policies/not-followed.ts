/** What an answer about policies cannot show by a rule. */
import { isWildcardName } from '../../../net/domain-name.ts';
import { idOn } from './end-id.ts';
import type { EndQuestion } from './pod-end.ts';
import type { PolicyReportSources } from './sources.ts';
import { shownDomain } from './words.ts';

/** Of firewalls and administrators' policies: a part that nothing is programmed of has no rule that could be shown, and decides all the same. */
export const notFollowed = (sources: PolicyReportSources, { pod, direction, network }: EndQuestion): string[] => {
  const { facts, policyLookup } = sources;
  const own = facts.get('podPolicy', idOn(pod, network));
  const subjects = own?.subjects ?? [];
  const policies = new Set(subjects.map((set) => facts.get('subjectSet', set)?.policy));
  if (policies.size === 0) return [];
  const otherWay = direction === 'Egress' ? 'spec.ingress' : 'spec.egress';
  const unread = policyLookup
    .problems()
    .filter((one) => one.severity === undefined && policies.has(one.object) && !one.message.startsWith(otherWay))
    .map(({ object, message }) => `${object}: ${message}`);
  const nameless = direction === 'Egress' ? unanswered(sources, own?.network, policies) : [];
  return [...unread, ...nameless].slice(0, MAX_NOT_FOLLOWED);
};

/** Wildcards that stand for nothing yet: a rule that allows by one allows nothing, whatever address is asked about. */
const unanswered = (
  { facts, domainState }: PolicyReportSources,
  network: string | undefined,
  policies: ReadonlySet<string | undefined>,
): string[] => {
  const found = new Set<string>();
  for (const id of facts.ids('adminRule')) {
    const rule = facts.get('adminRule', id);
    if (rule?.peers.kind !== 'domains' || rule.network !== network || !policies.has(rule.policy)) continue;
    for (const set of rule.peers.sets) {
      const name = facts.get('domainSet', set)?.name;
      const problem = name !== undefined && isWildcardName(name) ? domainState(name)?.problem : undefined;
      if (name !== undefined && problem !== undefined)
        found.add(`${rule.policy}: ${shownDomain(name)}: ${problem}; the rule allows nothing by it`);
    }
  }
  return [...found].sort();
};

const MAX_NOT_FOLLOWED = 10;
