/**
 * Which namespaces each selector of namespaces matches. Selectors are few, and rules on many networks have them: each is matched once, and
 * a namespace that changes costs as much as there are selectors.
 */
import { type CanonicalSelector, isSelected } from './canonical-selector.ts';
import type { PolicyNamespace } from './types.ts';

interface Scope {
  readonly selector: CanonicalSelector;
  readonly namespaces: Set<string>;
  uses: number;
}

const NONE: ReadonlySet<string> = new Set();

export class NamespaceScopes {
  readonly #known: ReadonlyMap<string, PolicyNamespace>;
  /** By the selector's text. */
  readonly #scopes = new Map<string, Scope>();
  /** By namespace, texts of the selectors that match it. */
  readonly #textsOf = new Map<string, Set<string>>();

  /** @param known labels of namespaces */
  constructor(known: ReadonlyMap<string, PolicyNamespace>) {
    this.#known = known;
  }

  /** @returns names of the namespaces that the selector matches, kept until it is released as often */
  acquire(selector: CanonicalSelector): ReadonlySet<string> {
    const scope = this.#scopes.get(selector.text) ?? this.#find(selector);
    scope.uses += 1;
    return scope.namespaces;
  }

  release({ text }: CanonicalSelector): void {
    const scope = this.#scopes.get(text);
    if (scope === undefined) return;
    scope.uses -= 1;
    if (scope.uses > 0) return;
    this.#scopes.delete(text);
    for (const name of scope.namespaces) this.#unlink(name, text);
  }

  /** Undefined: nobody has acquired the selector. */
  namespacesOf({ text }: CanonicalSelector): ReadonlySet<string> | undefined {
    return this.#scopes.get(text)?.namespaces;
  }

  /** Texts of the selectors that match a namespace. */
  textsOf(name: string): ReadonlySet<string> {
    return this.#textsOf.get(name) ?? NONE;
  }

  /** @returns whether other selectors match the namespace now */
  change(name: string): boolean {
    let isOther = false;
    const labels = this.#known.get(name)?.labels;
    for (const { selector, namespaces } of this.#scopes.values()) {
      const isIn = labels !== undefined && isSelected(selector, labels);
      if (isIn === namespaces.has(name)) continue;
      isOther = true;
      if (isIn) {
        namespaces.add(name);
        this.#link(name, selector.text);
      } else {
        namespaces.delete(name);
        this.#unlink(name, selector.text);
      }
    }
    return isOther;
  }

  /** What throws leaves nothing behind. */
  #find(selector: CanonicalSelector): Scope {
    const scope: Scope = { selector, namespaces: new Set(), uses: 0 };
    for (const [name, { labels }] of this.#known) if (isSelected(selector, labels)) scope.namespaces.add(name);
    this.#scopes.set(selector.text, scope);
    for (const name of scope.namespaces) this.#link(name, selector.text);
    return scope;
  }

  #link(name: string, text: string): void {
    const texts = this.#textsOf.get(name);
    if (texts === undefined) this.#textsOf.set(name, new Set([text]));
    else texts.add(text);
  }

  #unlink(name: string, text: string): void {
    const texts = this.#textsOf.get(name);
    if (texts?.delete(text) === true && texts.size === 0) this.#textsOf.delete(name);
  }
}
