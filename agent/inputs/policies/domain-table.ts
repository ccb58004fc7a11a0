/**
 * Domain names that rules name, as facts. Who has a rule with `ip4.dst == $set` acquires the set before the rule and releases it after: the
 * name is resolved from the first to the last use (agent/dns), and answers change the set and not the rule. There is one for all whose rules
 * name domain names, with a `DomainUses` for each of them.
 */
import type { FactStore } from '../../model/fact-store.ts';
import type { DomainSetFact } from '../../model/policies/facts.ts';
import { domainSetId } from '../../model/policies/ids.ts';

export interface DomainSets {
  /** @returns id of the set, see `domainSetName`: of each family there is one, empty as long as nothing is known of the name */
  acquire(set: DomainSetFact): string;
  /** Once per `acquire`. @param id as it has been returned */
  release(id: string): void;
}

export class DomainTable implements DomainSets {
  readonly #facts: Pick<FactStore, 'set'>;
  readonly #uses = new Map<string, number>();

  constructor(facts: Pick<FactStore, 'set'>) {
    this.#facts = facts;
  }

  acquire(set: DomainSetFact): string {
    const id = domainSetId(set);
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    this.#facts.set('domainSet', id, set);
    return id;
  }

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

/** What one user of a table has acquired: all of it can be released, whatever the user itself has come to. */
export class DomainUses implements DomainSets {
  readonly #table: DomainSets;
  readonly #uses = new Map<string, number>();

  constructor(table: DomainSets) {
    this.#table = table;
  }

  acquire(set: DomainSetFact): string {
    const id = this.#table.acquire(set);
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    return id;
  }

  release(id: string): void {
    const uses = this.#uses.get(id) ?? 0;
    if (uses === 0) return;
    if (uses === 1) this.#uses.delete(id);
    else this.#uses.set(id, uses - 1);
    this.#table.release(id);
  }

  end(): void {
    for (const [id, uses] of this.#uses) for (let use = 0; use < uses; use++) this.#table.release(id);
    this.#uses.clear();
  }
}
