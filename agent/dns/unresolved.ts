/** EgressFirewalls with domain names that nobody answers for, so that their owners hear of it and not only who reads the node's problems. */
import { type DomainName, isWildcardName } from '../../net/domain-name.ts';
import type { Problem } from '../inputs/problem.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { DnsNames, DomainState } from './types.ts';

type Facts = Pick<FactStore, 'get' | 'ids'>;

/**
 * One of each firewall. A name that has failed and still has addresses is in effect; of one without an answer yet there is nothing to
 * say, nor of wildcards, which live of what pods ask. Why a name fails may change from one question to the next, and is told by the node's problem.
 */
export const problemsOfFirewallNames = (facts: Facts, names: Pick<DnsNames, 'state'>): Problem[] => {
  const failing = new Map<string, Set<string>>();
  for (const id of facts.ids('adminRule')) {
    for (const { policy, name } of namesOf(facts, id)) {
      if (!isWithoutAddress(names.state(name))) continue;
      failing.set(policy, (failing.get(policy) ?? new Set()).add(name.slice(0, -1)));
    }
  }
  return [...failing].map(([object, some]) => ({
    object,
    cause: 'names-unresolved',
    message: textOf([...some].sort()),
  }));
};

/** Firewalls with a name that there is no answer for yet, and no failure either: what it stands for is known in a moment. */
export const firewallsAwaitingNames = (facts: Facts, names: Pick<DnsNames, 'state'>): ReadonlySet<string> => {
  const awaiting = new Set<string>();
  for (const id of facts.ids('adminRule')) {
    for (const { policy, name } of namesOf(facts, id)) if (isAwaited(names.state(name))) awaiting.add(policy);
  }
  return awaiting;
};

const isAwaited = (state: DomainState | undefined): boolean =>
  state?.kind === 'unresolved' && state.addresses.length === 0 && state.problem === undefined;

const isWithoutAddress = (state: DomainState | undefined): boolean =>
  state !== undefined && state.addresses.length === 0 && (state.kind !== 'unresolved' || state.problem !== undefined);

const namesOf = (facts: Facts, id: string): { readonly policy: string; readonly name: DomainName }[] => {
  const rule = facts.get('adminRule', id);
  if (rule?.tier !== 'firewall' || rule.peers.kind !== 'domains') return [];
  return rule.peers.sets.flatMap((set) => {
    const name = facts.get('domainSet', set)?.name;
    return name === undefined || isWildcardName(name) ? [] : [{ policy: rule.policy, name }];
  });
};

const MAX_SHOWN = 5;

const textOf = (names: readonly string[]): string => {
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `no address is known for ${names.slice(0, MAX_SHOWN).join(', ')}${more}: rules with these names apply to nothing until they are resolved`;
};
