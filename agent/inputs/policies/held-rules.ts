/**
 * The rules that a pod of this node holds, each for as many reasons as it has. The sorted list changes by what came and went: a pod can hold
 * thousands, and sorting them for each policy would take a tenant with as many policies minutes of the agent.
 */
import type { CompiledRule } from './compile.ts';
import type { RuleTable } from './rule-table.ts';

export class HeldRules {
  readonly #table: RuleTable;
  readonly #uses = new Map<string, number>();
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();
  #sorted: readonly string[] = [];

  constructor(table: RuleTable) {
    this.#table = table;
  }

  hold(rule: CompiledRule): void {
    const uses = this.#uses.get(rule.id) ?? 0;
    this.#uses.set(rule.id, uses + 1);
    if (uses > 0) return;
    this.#table.acquire(rule);
    if (!this.#removed.delete(rule.id)) this.#added.add(rule.id);
  }

  drop(id: string): void {
    const uses = (this.#uses.get(id) ?? 1) - 1;
    if (uses > 0) {
      this.#uses.set(id, uses);
      return;
    }
    if (!this.#uses.delete(id)) return;
    this.#table.release(id);
    if (!this.#added.delete(id)) this.#removed.add(id);
  }

  /** It is not used any more. */
  end(): void {
    for (const id of this.#uses.keys()) this.#table.release(id);
  }

  /** The same list as before where nothing changed. */
  get ids(): readonly string[] {
    if (this.#added.size === 0 && this.#removed.size === 0) return this.#sorted;
    const kept = this.#removed.size === 0 ? this.#sorted : this.#sorted.filter((id) => !this.#removed.has(id));
    this.#sorted = merged(kept, [...this.#added].sort());
    this.#added.clear();
    this.#removed.clear();
    return this.#sorted;
  }
}

const merged = (a: readonly string[], b: readonly string[]): readonly string[] => {
  if (b.length === 0) return a;
  const all: string[] = [];
  let next = 0;
  for (const id of b) {
    const end = insertionPoint(a, id, next);
    for (; next < end; next += 1) all.push(a[next] as string);
    all.push(id);
  }
  for (; next < a.length; next += 1) all.push(a[next] as string);
  return all;
};

const insertionPoint = (ids: readonly string[], id: string, from: number): number => {
  let [low, high] = [from, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
};
