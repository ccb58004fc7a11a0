/** What is to be known of wildcards: numbers, and problems for people. */

import type { DomainName } from '../../net/domain-name.ts';
import type { Problem } from '../inputs/problem.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import { UNANSWERED, type WildcardNames } from './wildcards.ts';

type Names = Pick<WildcardNames, 'names' | 'state'>;

export const observeWildcards = ({ gauge, gauges }: Pick<AgentMetrics, 'gauge' | 'gauges'>, names: Names): void => {
  gauges('udn_agent_wildcards', () => {
    const counts = { answered: 0, unanswered: 0, unfollowed: 0 };
    for (const name of names.names()) counts[standingOf(names, name)] += 1;
    return Object.entries(counts).map(([state, count]) => [{ state }, count] as const);
  });
  gauge('udn_agent_wildcard_addresses', () => {
    let addresses = 0;
    for (const name of names.names()) addresses += names.state(name)?.addresses.length ?? 0;
    return addresses;
  });
};

const standingOf = (names: Names, name: DomainName): 'answered' | 'unanswered' | 'unfollowed' => {
  const problem = names.state(name)?.problem;
  if (problem === undefined) return 'answered';
  return problem === UNANSWERED ? 'unanswered' : 'unfollowed';
};

/**
 * One that no pod has asked for a name of is as it should be; where that is so of all of them nobody may be there who would write it down.
 * @param node whose agent it is
 */
export const problemsOfWildcards = (node: string, names: Names): Problem[] => {
  const all = [...names.names()];
  const unfollowed = Map.groupBy(
    all.filter((name) => standingOf(names, name) === 'unfollowed'),
    (name) => names.state(name)?.problem ?? '',
  );
  const messages = [...unfollowed]
    .slice(0, MAX_SHOWN)
    .map(([problem, own]) => `${shown(own)}: ${problem}; rules with them allow nothing by them`);
  const isSilent = all.length > 0 && all.every((name) => standingOf(names, name) === 'unanswered');
  if (isSilent) messages.push(`${shown(all)}: ${UNANSWERED}, so rules with them allow nothing by them: ${WHO_ANSWERS}`);
  return messages.map((message) => ({
    ...{ object: `Node/${node}`, severity: 'warning', cause: 'wildcards-unanswered' },
    message: `wildcards of domain names are not followed: ${message}`,
  }));
};

const WHO_ANSWERS =
  'no pod has asked for such a name, or CoreDNS lacks the plugin ocp_dnsnameresolver for the namespace';

const shown = (names: readonly DomainName[]): string => {
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `${names
    .slice(0, MAX_SHOWN)
    .map((name) => name.slice(0, -1))
    .join(', ')}${more}`;
};

const MAX_SHOWN = 3;
