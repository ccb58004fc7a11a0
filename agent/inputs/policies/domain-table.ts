/**
 * Domain names that rules name, as facts. Who has a rule with `ip4.dst == $set` acquires the set before the rule and releases it after: the
 * name is resolved from the first to the last use, and answers change the set and not the rule.
 */
import type { DomainName } from '../../../net/domain-name.ts';
import type { FactStore } from '../../model/fact-store.ts';
import type { DomainSetFact } from '../../model/policies/facts.ts';
import { domainSetId } from '../../model/policies/ids.ts';

export class DomainTable {
  readonly #facts: FactStore;
  readonly #uses = new Map<string, number>();

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** @returns id of the set, see `domainSetName`: of each family there is one, empty as long as nothing is known of the name */
  acquire(network: string, name: DomainName): string {
    const set: DomainSetFact = { network, name };
    const id = domainSetId(set);
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    this.#facts.set('domainSet', id, set);
    return id;
  }

  /** Once per `acquire`. @param id as it has been returned */
  release(id: string): void {
    const uses = (this.#uses.get(id) ?? 0) - 1;
    if (uses > 0) {
      this.#uses.set(id, uses);
      return;
    }
    this.#uses.delete(id);
    this.#facts.set('domainSet', id, undefined);
  }
}
