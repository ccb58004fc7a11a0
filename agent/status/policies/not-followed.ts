/** What an answer about policies cannot show by a rule. */
import { idOn } from './end-id.ts';
import type { EndQuestion } from './pod-end.ts';
import type { PolicyReportSources } from './sources.ts';

/** Of firewalls and administrators' policies: a part that nothing is programmed of has no rule that could be shown, and decides all the same. */
export const notFollowed = (
  { facts, policyLookup }: PolicyReportSources,
  { pod, direction, network }: EndQuestion,
): string[] => {
  const subjects = facts.get('podPolicy', idOn(pod, network))?.subjects ?? [];
  const policies = new Set(subjects.map((set) => facts.get('subjectSet', set)?.policy));
  if (policies.size === 0) return [];
  const otherWay = direction === 'Egress' ? 'spec.ingress' : 'spec.egress';
  return policyLookup
    .problems()
    .filter((one) => one.severity === undefined && policies.has(one.object) && !one.message.startsWith(otherWay))
    .slice(0, MAX_NOT_FOLLOWED)
    .map(({ object, message }) => `${object}: ${message}`);
};

const MAX_NOT_FOLLOWED = 10;
