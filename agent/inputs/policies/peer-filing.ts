/** The selections of peers that one network's rules need, filed so that a pod finds those that it is in. */
import type { Labels } from '../../../api/label-selector.ts';
import type { CanonicalSelector } from './canonical-selector.ts';
import type { NamespaceScopes } from './namespace-scopes.ts';
import { Postings, type Selecting } from './postings.ts';
import type { Selection } from './templates.ts';

interface Filed extends Selecting {
  readonly selection: Selection;
}

/** The namespaces that one selector matches, and the selections in them. */
interface Scope<Item extends Filed> {
  readonly selector: CanonicalSelector;
  readonly namespaces: ReadonlySet<string>;
  readonly items: Postings<Item>;
}

export class PeerFiling<Item extends Filed> {
  readonly #shared: NamespaceScopes;
  readonly #inNamespace = new Map<string, Postings<Item>>();
  /** By the selector's text: selections share the few that a cluster has. */
  readonly #scopes = new Map<string, Scope<Item>>();

  /** @param shared with the selections of other networks */
  constructor(shared: NamespaceScopes) {
    this.#shared = shared;
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

  matching(namespace: string, labels: Labels): Item[] {
    const found = this.#inNamespace.get(namespace)?.matching(labels) ?? [];
    // One by one: the arguments of a call have a limit, and a tenant's selectors have none.
    for (const scope of this.#scopesOf(namespace)) for (const item of scope.items.matching(labels)) found.push(item);
    return found;
  }

  /** The selectors that match the namespace may be many more than the network has, and the other way round. */
  *#scopesOf(namespace: string): Generator<Scope<Item>> {
    const texts = this.#shared.textsOf(namespace);
    if (texts.size <= this.#scopes.size) {
      for (const text of texts) {
        const scope = this.#scopes.get(text);
        if (scope !== undefined) yield scope;
      }
    } else for (const scope of this.#scopes.values()) if (texts.has(scope.selector.text)) yield scope;
  }

  #addScope(selector: CanonicalSelector): Scope<Item> {
    const scope: Scope<Item> = { selector, namespaces: this.#shared.acquire(selector), items: new Postings() };
    this.#scopes.set(selector.text, scope);
    return scope;
  }

  #deleteScope({ selector }: Scope<Item>): void {
    this.#scopes.delete(selector.text);
    this.#shared.release(selector);
  }
}
