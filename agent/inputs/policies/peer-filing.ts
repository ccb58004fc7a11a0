/** The selections of peers that one network's rules need, filed so that a pod finds those that it is in. */
import type { Labels } from '../../../api/label-selector.ts';
import { type CanonicalSelector, isSelected } from './canonical-selector.ts';
import { Postings, type Selecting } from './postings.ts';
import type { Selection } from './templates.ts';
import type { PolicyNamespace } from './types.ts';

interface Filed extends Selecting {
  readonly selection: Selection;
}

/** The namespaces that one selector matches, and the selections in them. */
interface Scope<Item extends Filed> {
  readonly selector: CanonicalSelector;
  readonly namespaces: Set<string>;
  readonly items: Postings<Item>;
}

export class PeerFiling<Item extends Filed> {
  readonly #known: ReadonlyMap<string, PolicyNamespace>;
  readonly #inNamespace = new Map<string, Postings<Item>>();
  /** By the selector's text: selections share the few that a cluster has. */
  readonly #scopes = new Map<string, Scope<Item>>();
  readonly #scopesOf = new Map<string, Set<Scope<Item>>>();

  /** @param known labels of namespaces */
  constructor(known: ReadonlyMap<string, PolicyNamespace>) {
    this.#known = known;
  }

  get isEmpty(): boolean {
    return this.#inNamespace.size === 0 && this.#scopes.size === 0;
  }

  /** @returns names of the namespaces whose pods it may be about */
  add(item: Item): Iterable<string> {
    const { scope } = item.selection;
    if ('namespaces' in scope) {
      const known = this.#scopes.get(scope.namespaces.text) ?? this.#addScope(scope.namespaces);
      known.items.add(item);
      return known.namespaces;
    }
    const items = this.#inNamespace.get(scope.namespace) ?? new Postings<Item>();
    this.#inNamespace.set(scope.namespace, items);
    items.add(item);
    return [scope.namespace];
  }

  delete(item: Item): void {
    const { scope } = item.selection;
    if ('namespaces' in scope) {
      const known = this.#scopes.get(scope.namespaces.text);
      known?.items.delete(item);
      if (known?.items.size === 0) this.#deleteScope(known);
      return;
    }
    const items = this.#inNamespace.get(scope.namespace);
    items?.delete(item);
    if (items?.size === 0) this.#inNamespace.delete(scope.namespace);
  }

  /** Names of the namespaces that a selector matches; undefined: no selection here has it. */
  namespacesOf(selector: CanonicalSelector): Iterable<string> | undefined {
    return this.#scopes.get(selector.text)?.namespaces;
  }

  matching(namespace: string, labels: Labels): Item[] {
    const found = this.#inNamespace.get(namespace)?.matching(labels) ?? [];
    // One by one: the arguments of a call have a limit, and a tenant's selectors have none.
    for (const scope of this.#scopesOf.get(namespace) ?? [])
      for (const item of scope.items.matching(labels)) found.push(item);
    return found;
  }

  /** @returns whether other selections are about its pods now */
  changeNamespace(name: string): boolean {
    let isOther = false;
    for (const scope of this.#scopes.values()) isOther = this.#place(scope, name) || isOther;
    return isOther;
  }

  #addScope(selector: CanonicalSelector): Scope<Item> {
    const scope: Scope<Item> = { selector, namespaces: new Set(), items: new Postings() };
    this.#scopes.set(selector.text, scope);
    for (const name of this.#known.keys()) this.#place(scope, name);
    return scope;
  }

  #deleteScope(scope: Scope<Item>): void {
    this.#scopes.delete(scope.selector.text);
    for (const name of [...scope.namespaces]) this.#setIn(scope, name, false);
  }

  #place(scope: Scope<Item>, name: string): boolean {
    const labels = this.#known.get(name)?.labels;
    const isIn = labels !== undefined && isSelected(scope.selector, labels);
    if (isIn === scope.namespaces.has(name)) return false;
    this.#setIn(scope, name, isIn);
    return true;
  }

  #setIn(scope: Scope<Item>, name: string, isIn: boolean): void {
    const scopes = this.#scopesOf.get(name) ?? new Set();
    if (isIn) {
      scope.namespaces.add(name);
      this.#scopesOf.set(name, scopes.add(scope));
      return;
    }
    scope.namespaces.delete(name);
    scopes.delete(scope);
    if (scopes.size === 0) this.#scopesOf.delete(name);
  }
}
