/** The desired table as text, for people: what `nft list table inet ovn-udn` will print, sorted by name. */

import { chainHeader, elementText, setHeader, setKind } from './desired-form.ts';
import { type Chain, type Element, type NftItem, type NftSet, OUR_TABLE } from './types.ts';

/** The same items give the same text, in whatever order they come. */
export const formatTable = (items: Iterable<NftItem>): string => {
  const all = [...items];
  const elements = Map.groupBy(
    all.flatMap((item) => (item.kind === 'element' ? [item.element] : [])),
    ({ set }) => set,
  );
  const sets = all.flatMap((item) => (item.kind === 'set' ? [item.set] : []));
  const chains = all.flatMap((item) => (item.kind === 'chain' ? [item.chain] : []));
  const blocks = [
    ...sorted(sets, ({ name }) => name).map((set) => setBlock(set, elements.get(set.name) ?? [])),
    ...sorted(chains, ({ name }) => name).map(chainBlock),
  ];
  return `table ${OUR_TABLE.family} ${OUR_TABLE.name} {\n${blocks.join('\n')}}\n`;
};

const setBlock = (set: NftSet, elements: readonly Element[]): string => {
  const texts = sorted(elements.map(elementText), (text) => text);
  const list = texts.length === 0 ? [] : [`elements = { ${texts.join(`,\n\t\t\t     `)} }`];
  return block(`${setKind(set)} ${set.name}`, [...setHeader(set), ...list]);
};

const chainBlock = (chain: Chain): string => block(`chain ${chain.name}`, [...chainHeader(chain), ...chain.rules]);

const block = (name: string, lines: readonly string[]): string =>
  `\t${name} {\n${lines.map((line) => `\t\t${line}\n`).join('')}\t}\n`;

const sorted = <Item>(items: readonly Item[], text: (item: Item) => string): Item[] =>
  items.toSorted((a, b) => (text(a) < text(b) ? -1 : Number(text(a) > text(b))));
