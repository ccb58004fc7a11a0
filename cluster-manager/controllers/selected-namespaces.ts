/** The namespaces of a network. */
import { type LabelSelector, matchesSelector } from '../../api/label-selector.ts';
import type { NamespaceFacts } from '../facts/namespace-facts.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { Caches } from './caches.ts';

/** Names, sorted. Empty when the object is wrong: then it selects nothing. */
export const selectedNamespaces = (facts: NetworkFacts, namespaces: Caches['namespaces']): readonly string[] => {
  if (facts.kind === 'UserDefinedNetwork') return [facts.metadata.namespace ?? ''];
  const { selector } = facts;
  if (selector === undefined) return [];
  return candidates(selector, namespaces)
    .filter(({ labels }) => matchesSelector(selector, labels))
    .map(({ name }) => name)
    .sort();
};

/** Most selectors name a label's value: then only namespaces with it have to be looked at. */
const candidates = (
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  namespaces: Caches['namespaces'],
): readonly NamespaceFacts[] => {
  const [pair] = Object.entries(matchLabels);
  if (pair !== undefined) return namespaces.byIndex('label', `${pair[0]}=${pair[1]}`);
  const oneOf = matchExpressions.find(({ operator }) => operator === 'In');
  if (oneOf === undefined) return [...namespaces.values()];
  const values = [...new Set(oneOf.values ?? [])];
  return values.flatMap((value) => namespaces.byIndex('label', `${oneOf.key}=${value}`));
};
