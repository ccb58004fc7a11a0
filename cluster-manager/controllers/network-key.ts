/** The key of a network in its queue: its kind and its own key. */
import type { NetworkFacts, NetworkKind } from '../facts/network-facts.ts';
import type { Caches } from './caches.ts';

export const networkKey = ({ kind, key }: Pick<NetworkFacts, 'kind' | 'key'>): string => `${kind}/${key}`;

export const factsOf = (caches: Pick<Caches, 'udns' | 'cudns'>, key: string): NetworkFacts | undefined => {
  const slash = key.indexOf('/');
  const kind = key.slice(0, slash) as NetworkKind;
  return (kind === 'UserDefinedNetwork' ? caches.udns : caches.cudns).get(key.slice(slash + 1));
};
