/**
 * What all policies of a namespace may cost this node together. Where they are too much, those that are over are closed in the order of their
 * names, so that neither the order of events nor who came first decides. As long as all fit, a change costs an addition.
 */
import { excessOf, MAX_MEMBERS, NAMESPACE_LIMITS, NO_COST, type PolicyCost, plus, sizeOf } from './cost.ts';
import type { PolicyState } from './state.ts';

export class NamespaceBudget {
  readonly #active = new Set<PolicyState>();
  #total: PolicyCost = NO_COST;
  /** Of all policies, and more than there are: sets that several need are counted by each. */
  #members = 0;
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
    if (isActive) return;
    policy.excess = undefined;
    this.#members -= sizeOf(policy.members);
    policy.members = new Map();
  }

  /** @returns whether it may have to be settled */
  measure(policy: PolicyState, members: PolicyState['members']): boolean {
    if (!this.#active.has(policy)) return false;
    const before = sizeOf(policy.members);
    policy.members = members;
    this.#members += sizeOf(members) - before;
    return sizeOf(members) !== before && this.#isOver;
  }

  get #isOver(): boolean {
    return this.#members > MAX_MEMBERS || excessOf(this.#total, NAMESPACE_LIMITS) !== undefined;
  }

  /** @returns those that are closed now and were not, or the other way round */
  settle(): readonly PolicyState[] {
    if (!this.#isOver && !this.#hasClosed) return [];
    this.#hasClosed = false;
    const changed: PolicyState[] = [];
    let total = NO_COST;
    let members: ReadonlyMap<string, number> = new Map();
    for (const policy of [...this.#active].sort(byKey)) {
      const next = plus(total, policy.projection.cost);
      const all = policy.members.size === 0 ? members : new Map([...members, ...policy.members]);
      const excess = excessOf(next, NAMESPACE_LIMITS) ?? tooManyMembers(sizeOf(all));
      if (excess === undefined) [total, members] = [next, all];
      else this.#hasClosed = true;
      if ((policy.excess === undefined) !== (excess === undefined)) changed.push(policy);
      policy.excess = excess;
    }
    return changed;
  }
}

const tooManyMembers = (count: number): string | undefined =>
  count > MAX_MEMBERS ? `${count} pods in sets of peers, more than ${MAX_MEMBERS}` : undefined;

const byKey = (a: PolicyState, b: PolicyState): number => (a.key < b.key ? -1 : 1);
