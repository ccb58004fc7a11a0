import { elementText } from './desired-form.ts';
import type { TableState } from './table-state.ts';

/** As `nft list table` prints it. */
export const listingOf = (name: string, { header, chains, sets, others }: TableState): string => {
  const blocks = [
    ...(header.length === 0 ? [] : [header.map((line) => `\t${line}\n`).join('')]),
    ...others.map((other) => block(`${other.kind} ${other.name}`, [])),
    ...[...sets].map(([set, state]) => {
      const elements = [...state.elements].map(([key, { value, comment }]) => elementText({ key, value, comment }));
      const lines = elements.length === 0 ? [] : [`elements = { ${elements.join(',\n\t\t\t     ')} }`];
      return block(`${state.kind} ${set}`, [...state.header, ...lines]);
    }),
    ...[...chains].map(([chain, state]) => block(`chain ${chain}`, [...state.header, ...state.rules])),
  ];
  return `table inet ${name} {\n${blocks.join('\n')}}\n`;
};

const block = (head: string, lines: readonly string[]): string =>
  `\t${head} {\n${lines.map((line) => `\t\t${line}\n`).join('')}\t}\n`;
