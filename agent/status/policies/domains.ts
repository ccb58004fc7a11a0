/** What domain names stand for, of rules that name them. */
import type { DomainStatus } from '../../../api/policy-status.ts';
import type { PolicyReportSources } from './sources.ts';
import { shownDomain } from './words.ts';

/** By name. @param sets ids of domain sets */
export const domainStatuses = (
  { facts, domainState }: Pick<PolicyReportSources, 'facts' | 'domainState'>,
  sets: readonly string[],
): DomainStatus[] => {
  const names = new Set(sets.flatMap((id) => facts.get('domainSet', id)?.name ?? []));
  return [...names].sort().map((name) => {
    const { kind = 'unresolved', addresses = [], answeredAgo, problem, notes = [] } = domainState(name) ?? {};
    return {
      ...{ name: shownDomain(name), state: kind, addresses: [...addresses], notes: [...notes] },
      ...(answeredAgo !== undefined && { answeredSecondsAgo: Math.floor(answeredAgo / 1000) }),
      ...(problem !== undefined && { problem }),
    };
  });
};
