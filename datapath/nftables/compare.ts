/** What differs between the desired state and what is there, key by key. */

import { chainHeader, desiredElement, setHeader, setKind, typesOf } from './desired-form.ts';
import { elementForm } from './element-form.ts';
import type { RuleForms } from './rule-forms.ts';
import type { ElementState, SetState, TableState } from './table-state.ts';
import { type Chain, type Element, type NftItem, type NftSet, nftItemKey } from './types.ts';

/** The key of what the table itself should not have: flags. */
export const TABLE_KEY = 'table';

export type Finding = { readonly key: string } & (
  | {
      readonly kind: 'chain';
      readonly desired: Chain | undefined;
      readonly how: 'missing' | 'rules' | 'remade' | 'unwanted';
    }
  | {
      readonly kind: 'set';
      readonly desired: NftSet | undefined;
      readonly how: 'missing' | 'remade' | 'unwanted';
      /** What is there. */
      readonly actual?: 'set' | 'map';
    }
  | {
      readonly kind: 'element';
      readonly desired: Element | undefined;
      readonly how: 'missing' | 'changed' | 'unwanted';
      readonly set: string;
      /** As it is listed. */
      readonly actual: string;
    }
  | { readonly kind: 'other'; readonly how: 'unwanted'; readonly object: { kind: string; name: string } }
  | { readonly kind: 'table'; readonly how: 'changed' }
);

/** @param forms how nft prints rules that are desired in other words */
export const compareKey = (
  key: string,
  desired: NftItem | undefined,
  actual: TableState,
  forms: RuleForms,
): Finding | undefined => {
  if (desired === undefined) return findStale(key, actual);
  switch (desired.kind) {
    case 'chain':
      return compareChain(key, desired.chain, actual, forms);
    case 'set':
      return compareSet(key, desired.set, actual);
    case 'element':
      return compareElement(key, desired.element, actual);
  }
};

const compareChain = (key: string, chain: Chain, { chains }: TableState, forms: RuleForms): Finding | undefined => {
  const found = (how: 'missing' | 'rules' | 'remade'): Finding => ({ kind: 'chain', key, desired: chain, how });
  const actual = chains.get(chain.name);
  if (actual === undefined) return found('missing');
  if (!sameLines(actual.header, chainHeader(chain))) return found('remade');
  const same =
    actual.rules.length === chain.rules.length &&
    chain.rules.every((rule, index) => rule === actual.rules[index] || forms.get(rule) === actual.rules[index]);
  return same ? undefined : found('rules');
};

const compareSet = (key: string, set: NftSet, { sets }: TableState): Finding | undefined => {
  const actual = sets.get(set.name);
  if (actual === undefined) return { kind: 'set', key, desired: set, how: 'missing' };
  const same = actual.kind === setKind(set) && sameLines(actual.header, setHeader(set));
  return same ? undefined : { kind: 'set', key, desired: set, how: 'remade', actual: actual.kind };
};

const sameLines = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && [...a].sort().join('\n') === [...b].sort().join('\n');

const compareElement = (key: string, element: Element, { sets }: TableState): Finding | undefined => {
  const set = sets.get(element.set);
  const form = desiredElement(set?.header ?? [], element);
  const common = { kind: 'element', key, desired: element, set: element.set, actual: form.key } as const;
  const actual = set?.elements.get(form.key);
  if (actual === undefined) return { ...common, how: 'missing' };
  return sameElement(actual, form.state) ? undefined : { ...common, how: 'changed' };
};

const sameElement = (a: ElementState, b: ElementState): boolean =>
  a.value === b.value && a.comment === b.comment && a.extra === b.extra;

/** Something that is there by the key that it was desired with. */
const findStale = (key: string, { chains, sets }: TableState): Finding | undefined => {
  const [kind, name = '', ...rest] = key.split(' ');
  if (kind === 'chain') return chains.has(name) ? { kind, key, desired: undefined, how: 'unwanted' } : undefined;
  const set = sets.get(name);
  if (kind === 'set') return set && { kind, key, desired: undefined, how: 'unwanted', actual: set.kind };
  const actual = elementForm(typesOf(set?.header ?? []).key, rest.join(' '));
  if (kind !== 'element' || set?.elements.has(actual) !== true) return undefined;
  return { kind, key, desired: undefined, how: 'unwanted', set: name, actual };
};

/** Everything in the table that no owner desires: the table is ours. */
export const staleObjects = (desired: ReadonlyMap<string, NftItem>, actual: TableState): Finding[] => [
  ...(actual.header.length > 0 ? [{ kind: 'table', key: TABLE_KEY, how: 'changed' } as const] : []),
  ...actual.others.map((object): Finding => {
    return { kind: 'other', key: `${object.kind} ${object.name}`, how: 'unwanted', object };
  }),
  ...[...actual.chains.keys()]
    .map((name) => `chain ${name}`)
    .filter((key) => !desired.has(key))
    .map((key): Finding => ({ kind: 'chain', key, desired: undefined, how: 'unwanted' })),
  ...staleInSets(desired, actual.sets),
];

const staleInSets = (desired: ReadonlyMap<string, NftItem>, sets: ReadonlyMap<string, SetState>): Finding[] => {
  const desiredElements = elementsBySet(desired);
  return [...sets].flatMap(([name, set]): Finding[] => {
    const key = `set ${name}`;
    if (!desired.has(key)) return [{ kind: 'set', key, desired: undefined, how: 'unwanted', actual: set.kind }];
    const forms = new Set((desiredElements.get(name) ?? []).map((element) => desiredElement(set.header, element).key));
    return [...set.elements.keys()]
      .filter((actual) => !forms.has(actual))
      .map((actual) => {
        const element = { set: name, key: actual };
        return {
          kind: 'element',
          key: nftItemKey({ kind: 'element', element }),
          desired: undefined,
          how: 'unwanted',
          set: name,
          actual,
        };
      });
  });
};

export const elementsBySet = (desired: ReadonlyMap<string, NftItem>): Map<string, Element[]> => {
  const elements = [...desired.values()].flatMap((item) => (item.kind === 'element' ? [item.element] : []));
  return Map.groupBy(elements, ({ set }) => set);
};
