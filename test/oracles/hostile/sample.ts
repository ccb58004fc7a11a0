/** A part of all cells that has everything in pairs, in another order for each seed. */
import { createHash } from 'node:crypto';
import { type Cell, cellId } from './cells.ts';

/** Each cell that has two values together, for its source and family, which none before it had. */
export const sampleOf = (all: readonly Cell[], seed: string): readonly Cell[] => {
  const seen = new Set<string>();
  return shuffled(all, seed).filter((cell) => {
    const news = pairsOf(cell).filter((pair) => !seen.has(pair));
    for (const pair of news) seen.add(pair);
    return news.length > 0;
  });
};

export const shuffled = (all: readonly Cell[], seed: string): readonly Cell[] =>
  all
    .map((cell) => ({
      cell,
      digest: createHash('sha256')
        .update(`${seed} ${cellId(cell)}`)
        .digest('hex'),
    }))
    .sort((a, b) => (a.digest < b.digest ? -1 : 1))
    .map(({ cell }) => cell);

export const pairsOf = ({ source, entry, family, protocol, encapsulation, hop, claim }: Cell): readonly string[] => {
  const values = [entry.name, protocol.name, encapsulation, hop, claim];
  return values.flatMap((one, first) =>
    values.slice(first + 1).map((other, index) => [source, family, first, first + 1 + index, one, other].join('|')),
  );
};
