/** Which IPAMClaims a pod names: one of its primary network, and one of each secondary network. Pure. */
import { parseDefaultNetworkSelection, parseNetworkSelections } from '../../api/annotations/network-selection.ts';
import { ApiError } from '../../api/errors.ts';
import type { PodFacts } from '../facts/pod-facts.ts';

/** Keys of the claims. An unreadable list names none; the pod gets an event where its addresses are allocated. */
export const namedClaims = ({ namespace, key, annotations }: PodFacts): readonly string[] => {
  const { defaultNetwork = '', selection = '', primaryClaim } = annotations;
  const names = [
    ...(mentionsClaim(defaultNetwork) ? read(() => [parseDefaultNetworkSelection(defaultNetwork, key)]) : []),
    ...(mentionsClaim(selection) ? read(() => parseNetworkSelections(selection, key)) : []),
  ].flatMap(({ ipamClaim }) => ipamClaim ?? []);
  const all = primaryClaim === undefined ? names : [...names, primaryClaim];
  return [...new Set(all)].map((name) => `${namespace}/${name}`);
};

/** Asked of every version of every pod; most have none. */
const mentionsClaim = (text: string): boolean => text.includes('ipam-claim-reference');

const read = <Item>(parse: () => readonly Item[]): readonly Item[] => {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
};
