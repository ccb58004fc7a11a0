/** What differs between what is wanted and what is there, key by key. */
import { elementForm } from './element-form.ts';
import type { RuleForms } from './rule-forms.ts';
import type { ElementState, SetState, TableState } from './table-state.ts';
import { type Chain, type Element, type NftItem, type NftSet, nftItemKey } from './types.ts';
import { chainHeader, setHeader, setKind, typesOf, wantedElement } from './wanted-form.ts';

/** The key of what the table itself should not have: flags. */
export const TABLE_KEY = 'table';

export type Finding = { readonly key: string } & (
  | {
      readonly kind: 'chain';
      readonly wanted: Chain | undefined;
      readonly how: 'missing' | 'rules' | 'remade' | 'unwanted';
    }
  | {
      readonly kind: 'set';
      readonly wanted: NftSet | undefined;
      readonly how: 'missing' | 'remade' | 'unwanted';
      /** What is there. */
      readonly actual?: 'set' | 'map';
    }
  | {
      readonly kind: 'element';
      readonly wanted: Element | undefined;
      readonly how: 'missing' | 'changed' | 'unwanted';
      readonly set: string;
      /** As it is listed. */
      readonly actual: string;
    }
  | { readonly kind: 'other'; readonly how: 'unwanted'; readonly object: { kind: string; name: string } }
  | { readonly kind: 'table'; readonly how: 'changed' }
);

/** @param forms how nft prints rules that are wanted in other words */
export const compareKey = (
  key: string,
  wanted: NftItem | undefined,
  actual: TableState,
  forms: RuleForms,
): Finding | undefined => {
  if (wanted === undefined) return findUnwanted(key, actual);
  switch (wanted.kind) {
    case 'chain':
      return compareChain(key, wanted.chain, actual, forms);
    case 'set':
      return compareSet(key, wanted.set, actual);
    case 'element':
      return compareElement(key, wanted.element, actual);
  }
};

const compareChain = (key: string, chain: Chain, { chains }: TableState, forms: RuleForms): Finding | undefined => {
  const found = (how: 'missing' | 'rules' | 'remade'): Finding => ({ kind: 'chain', key, wanted: chain, how });
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
  if (actual === undefined) return { kind: 'set', key, wanted: set, how: 'missing' };
  const same = actual.kind === setKind(set) && sameLines(actual.header, setHeader(set));
  return same ? undefined : { kind: 'set', key, wanted: set, how: 'remade', actual: actual.kind };
};

const sameLines = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && [...a].sort().join('\n') === [...b].sort().join('\n');

const compareElement = (key: string, element: Element, { sets }: TableState): Finding | undefined => {
  const set = sets.get(element.set);
  const form = wantedElement(set?.header ?? [], element);
  const common = { kind: 'element', key, wanted: element, set: element.set, actual: form.key } as const;
  const actual = set?.elements.get(form.key);
  if (actual === undefined) return { ...common, how: 'missing' };
  return sameElement(actual, form.state) ? undefined : { ...common, how: 'changed' };
};

const sameElement = (a: ElementState, b: ElementState): boolean =>
  a.value === b.value && a.comment === b.comment && a.extra === b.extra;

/** Something that is there by the key that it was wanted with. */
const findUnwanted = (key: string, { chains, sets }: TableState): Finding | undefined => {
  const [kind, name = '', ...rest] = key.split(' ');
  if (kind === 'chain') return chains.has(name) ? { kind, key, wanted: undefined, how: 'unwanted' } : undefined;
  const set = sets.get(name);
  if (kind === 'set') return set && { kind, key, wanted: undefined, how: 'unwanted', actual: set.kind };
  const actual = elementForm(typesOf(set?.header ?? []).key, rest.join(' '));
  if (kind !== 'element' || set?.elements.has(actual) !== true) return undefined;
  return { kind, key, wanted: undefined, how: 'unwanted', set: name, actual };
};

/** Everything in the table that nobody wants: the table is ours. */
export const unwantedThings = (wanted: ReadonlyMap<string, NftItem>, actual: TableState): Finding[] => [
  ...(actual.header.length > 0 ? [{ kind: 'table', key: TABLE_KEY, how: 'changed' } as const] : []),
  ...actual.others.map((object): Finding => {
    return { kind: 'other', key: `${object.kind} ${object.name}`, how: 'unwanted', object };
  }),
  ...[...actual.chains.keys()]
    .map((name) => `chain ${name}`)
    .filter((key) => !wanted.has(key))
    .map((key): Finding => ({ kind: 'chain', key, wanted: undefined, how: 'unwanted' })),
  ...unwantedInSets(wanted, actual.sets),
];

const unwantedInSets = (wanted: ReadonlyMap<string, NftItem>, sets: ReadonlyMap<string, SetState>): Finding[] => {
  const wantedElements = elementsBySet(wanted);
  return [...sets].flatMap(([name, set]): Finding[] => {
    const key = `set ${name}`;
    if (!wanted.has(key)) return [{ kind: 'set', key, wanted: undefined, how: 'unwanted', actual: set.kind }];
    const forms = new Set((wantedElements.get(name) ?? []).map((element) => wantedElement(set.header, element).key));
    return [...set.elements.keys()]
      .filter((actual) => !forms.has(actual))
      .map((actual) => {
        const element = { set: name, key: actual };
        return {
          kind: 'element',
          key: nftItemKey({ kind: 'element', element }),
          wanted: undefined,
          how: 'unwanted',
          set: name,
          actual,
        };
      });
  });
};

export const elementsBySet = (wanted: ReadonlyMap<string, NftItem>): Map<string, Element[]> => {
  const elements = [...wanted.values()].flatMap((item) => (item.kind === 'element' ? [item.element] : []));
  return Map.groupBy(elements, ({ set }) => set);
};
