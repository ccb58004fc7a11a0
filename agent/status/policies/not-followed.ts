/** What an answer about policies cannot show by a rule. */
import { type DomainName, isWildcardName } from '../../../net/domain-name.ts';
import type { DomainState } from '../../dns/types.ts';
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

/** Names that stand for nothing: a rule by one applies to nothing, whatever address is asked about. */
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
      const why = name === undefined ? undefined : namelessText(name, domainState(name));
      if (name !== undefined && why !== undefined) found.add(`${rule.policy}: ${shownDomain(name)}: ${why}`);
    }
  }
  return [...found].sort();
};

/** Of wildcards, which live of what pods ask, that nobody has answered for; of names those without an address. */
const namelessText = (name: DomainName, state: DomainState | undefined): string | undefined => {
  if (state === undefined) return undefined;
  const { problem, addresses } = state;
  if (isWildcardName(name)) return problem === undefined ? undefined : `${problem}; the rule allows nothing by it`;
  if (addresses.length > 0) return undefined;
  return `no address is known${problem === undefined ? '' : ` (${problem})`}; the rule applies to nothing by it`;
};

const MAX_NOT_FOLLOWED = 10;
