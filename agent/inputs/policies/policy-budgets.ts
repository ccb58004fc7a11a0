/** The budgets of all namespaces. */
import { NamespaceBudget } from './namespace-budget.ts';
import type { PolicyState } from './state.ts';

export class PolicyBudgets {
  readonly #budgets = new Map<string, NamespaceBudget>();
  readonly #changed = new Set<string>();

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** @param isActive it has pods of this node */
  use(policy: PolicyState, isActive: boolean): void {
    const { namespace } = policy.projection.policy;
    const budget = this.#budgets.get(namespace) ?? new NamespaceBudget();
    budget.use(policy, isActive);
    this.#budgets.set(namespace, budget);
    this.#changed.add(namespace);
  }

  /** @param members see `PolicyState` */
  measure(policy: PolicyState, members: PolicyState['members']): void {
    const { namespace } = policy.projection.policy;
    if (this.#budgets.get(namespace)?.measure(policy, members) === true) this.#changed.add(namespace);
  }

  /** @returns policies that are closed now and were not, or the other way round */
  settle(): readonly PolicyState[] {
    const changed: PolicyState[] = [];
    for (const namespace of this.#changed) {
      const budget = this.#budgets.get(namespace);
      for (const policy of budget?.settle() ?? []) changed.push(policy);
      if (budget?.isEmpty === true) this.#budgets.delete(namespace);
    }
    this.#changed.clear();
    return changed;
  }
}
