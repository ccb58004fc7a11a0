/** Services as facts, and which of them have what several want. A change costs what it is about, not what there is. */
import type { FactStore } from '../model/fact-store.ts';
import type { ServiceFact } from '../model/facts.ts';
import { ExternalClaims } from './external-claims.ts';

export class ServiceIndex {
  readonly #facts: FactStore;
  readonly #claims = new ExternalClaims();

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** Undefined when the Service is gone. */
  change(key: string, after: ServiceFact | undefined): void {
    const touched = this.#claims.replace(this.#facts.get('service', key), after);
    this.#facts.set('service', key, after);
    for (const thing of touched) this.#facts.set('externalAddress', thing, this.#claims.ownerOf(thing));
  }
}
