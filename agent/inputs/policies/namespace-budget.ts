/**
 * What all policies of a namespace may cost this node together. Where they are too much, those that are over are closed in the order of their
 * names, so that neither the order of events nor who came first decides. As long as all fit, a change costs an addition.
 */
import { excessOf, NAMESPACE_LIMITS, NO_COST, type PolicyCost, plus } from './cost.ts';
import type { PolicyState } from './state.ts';

export class NamespaceBudget {
  readonly #active = new Set<PolicyState>();
  #total: PolicyCost = NO_COST;
  #hasClosed = false;

  get isEmpty(): boolean {
    return this.#active.size === 0;
  }

  /** @param isActive it has pods of this node */
  use(policy: PolicyState, isActive: boolean): void {
    if (this.#active.has(policy) === isActive) return;
    if (isActive) this.#active.add(policy);
    else this.#active.delete(policy);
    this.#total = plus(this.#total, policy.projection.cost, isActive ? 1 : -1);
    if (!isActive) policy.excess = undefined;
  }

  /** @returns those that are closed now and were not, or the other way round */
  settle(): readonly PolicyState[] {
    const isOver = excessOf(this.#total, NAMESPACE_LIMITS) !== undefined;
    if (!isOver && !this.#hasClosed) return [];
    this.#hasClosed = false;
    const changed: PolicyState[] = [];
    let total = NO_COST;
    for (const policy of [...this.#active].sort(byKey)) {
      const next = plus(total, policy.projection.cost);
      const excess = excessOf(next, NAMESPACE_LIMITS);
      if (excess === undefined) total = next;
      else this.#hasClosed = true;
      if ((policy.excess === undefined) !== (excess === undefined)) changed.push(policy);
      policy.excess = excess;
    }
    return changed;
  }
}

const byKey = (a: PolicyState, b: PolicyState): number => (a.key < b.key ? -1 : 1);
