/** What is to be known of the names that are resolved: numbers, and problems for people. */
import type { Problem } from '../inputs/problem.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import type { DnsResolver } from './resolver.ts';
import type { DomainState } from './types.ts';

type Names = Pick<DnsResolver, 'names' | 'state'>;

export const observeDomains = ({ gauge, gauges }: Pick<AgentMetrics, 'gauge' | 'gauges'>, names: Names): void => {
  gauges('udn_agent_domain_names', () => {
    const counts = new Map<DomainState['kind'], number>(KINDS.map((kind) => [kind, 0]));
    for (const { kind } of statesOf(names)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return [...counts].map(([state, count]) => [{ state }, count] as const);
  });
  gauge('udn_agent_domain_addresses', () => {
    let addresses = 0;
    for (const state of statesOf(names)) addresses += state.addresses.length;
    return addresses;
  });
  gauge('udn_agent_domain_age_seconds', () => {
    let oldest = 0;
    for (const { answeredAgo = 0 } of statesOf(names)) oldest = Math.max(oldest, answeredAgo);
    return oldest / 1000;
  });
};

const KINDS: readonly DomainState['kind'][] = ['unresolved', 'resolved', 'failed'];

/** Names that rules have and that nobody answers for. @param node whose resolver it is */
export const problemsOfDomains = (node: string, names: Names): Problem[] => {
  const failing = [...names.names()].flatMap((name) => {
    const problem = names.state(name)?.problem;
    return problem === undefined ? [] : [`${name.slice(0, -1)} (${problem})`];
  });
  if (failing.length === 0) return [];
  const more = failing.length > MAX_SHOWN ? ` and ${failing.length - MAX_SHOWN} more` : '';
  const message = `domain names of policies are not resolved: ${failing.slice(0, MAX_SHOWN).join(', ')}${more}; their rules apply to what they stood for until an hour after the last answer, or 10 minutes after the start of an agent that has had none, and to nothing of them after that`;
  return [{ object: `Node/${node}`, severity: 'warning', message, cause: 'names-unresolved' }];
};

const MAX_SHOWN = 3;

function* statesOf(names: Names): Generator<DomainState> {
  for (const name of names.names()) {
    const state = names.state(name);
    if (state !== undefined) yield state;
  }
}
