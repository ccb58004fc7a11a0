/** Rules and deny groups that pods of this node hold. Each is a fact as long as a pod holds it. */
import type { FactWriter } from '../../model/fact-store.ts';
import type { DenyGroupFact } from '../../model/policies/facts.ts';
import type { CompiledRule } from './compile.ts';
import type { PeerTable } from './peer-table.ts';

export class RuleTable {
  readonly #facts: FactWriter;
  readonly #peers: PeerTable;
  readonly #rules = new Map<string, { readonly rule: CompiledRule; uses: number }>();
  /** Not held any more, until `flush`: what replaces a policy usually holds most of it again. */
  readonly #idle = new Set<string>();
  readonly #denyGroups = new Map<string, number>();

  constructor(facts: FactWriter, peers: PeerTable) {
    this.#facts = facts;
    this.#peers = peers;
  }

  acquire(rule: CompiledRule): void {
    const known = this.#rules.get(rule.id);
    if (known !== undefined) {
      known.uses += 1;
      return;
    }
    // What throws is not counted: the next one that needs the rule makes it.
    if (rule.set !== undefined) this.#peers.acquire(rule.set, rule.fact.family);
    this.#facts.set('policyRule', rule.id, rule.fact);
    this.#rules.set(rule.id, { rule, uses: 1 });
  }

  release(id: string): void {
    const known = this.#rules.get(id);
    if (known === undefined) return;
    known.uses -= 1;
    if (known.uses === 0) this.#idle.add(id);
  }

  /** Ends the rules that nobody holds. */
  flush(): void {
    for (const id of this.#idle) {
      const known = this.#rules.get(id);
      if (known === undefined || known.uses > 0) continue;
      this.#rules.delete(id);
      this.#facts.set('policyRule', id, undefined);
      if (known.rule.set !== undefined) this.#peers.release(known.rule.set, known.rule.fact.family);
    }
    this.#idle.clear();
  }

  acquireDenyGroup(id: string, group: DenyGroupFact): void {
    const uses = this.#denyGroups.get(id) ?? 0;
    this.#denyGroups.set(id, uses + 1);
    if (uses === 0) this.#facts.set('denyGroup', id, group);
  }

  releaseDenyGroup(id: string): void {
    const uses = (this.#denyGroups.get(id) ?? 1) - 1;
    if (uses > 0) {
      this.#denyGroups.set(id, uses);
      return;
    }
    this.#denyGroups.delete(id);
    this.#facts.set('denyGroup', id, undefined);
  }
}
