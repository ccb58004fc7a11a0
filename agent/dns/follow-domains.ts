/** Wants the names that rules name, and keeps the facts about what these stand for. */
import type { DomainName } from '../../net/domain-name.ts';
import type { FactListener, FactStore } from '../model/fact-store.ts';
import type { DnsNames } from './types.ts';

/** To be called before rules are read. @returns what ends it; the facts stay */
export const followDomains = (facts: FactStore, names: Pick<DnsNames, 'want' | 'onChange'>): (() => void) => {
  /** By the set's id. */
  const wanted = new Map<string, { readonly name: DomainName; readonly release: () => void }>();
  /** A name may be of several networks. */
  const uses = new Map<DomainName, number>();
  const change: FactListener = (kind, id, isPresent) => {
    if (kind !== 'domainSet') return;
    if (isPresent) {
      const set = facts.get('domainSet', id);
      if (set === undefined) return;
      const { name, isForFirewalls = false } = set;
      uses.set(name, (uses.get(name) ?? 0) + 1);
      wanted.set(id, { name, release: names.want(name, isForFirewalls ? 'firewall' : 'administrator') });
      return;
    }
    const known = wanted.get(id);
    if (known === undefined) return;
    wanted.delete(id);
    known.release();
    const left = (uses.get(known.name) ?? 0) - 1;
    if (left > 0) uses.set(known.name, left);
    else {
      uses.delete(known.name);
      facts.set('domainAddresses', known.name, undefined);
    }
  };
  const ends = [
    names.onChange((name, addresses) => {
      if (uses.has(name)) facts.set('domainAddresses', name, addresses.length === 0 ? undefined : addresses);
    }),
    facts.listen(change),
  ];
  return () => {
    for (const end of ends) end();
    for (const { release } of wanted.values()) release();
  };
};
