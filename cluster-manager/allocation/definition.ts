/** Which NAD says what a network is. Pure. */
import { compareByAge } from '../../api/object.ts';
import type { NadFacts } from '../facts/nad-facts.ts';

/** The oldest of those that were rendered from the network itself, else the oldest of all. */
export const definitionOf = <Nad extends Pick<NadFacts, 'metadata'> & { readonly isOwn: boolean }>(
  all: readonly Nad[],
): Nad | undefined => {
  const own = all.filter(({ isOwn }) => isOwn);
  const [first, ...others] = own.length === 0 ? all : own;
  return others.reduce(
    (oldest, nad) => (oldest !== undefined && compareByAge(oldest.metadata, nad.metadata) <= 0 ? oldest : nad),
    first,
  );
};
