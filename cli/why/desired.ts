/** What a UserDefinedNetwork or ClusterUserDefinedNetwork asks for, and where. */
import { matchesSelector } from '../../api/label-selector.ts';
import type { NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import type { Snapshot } from '../cluster/snapshot.ts';

/** `UserDefinedNetwork red/net` */
export const nameOf = ({ kind, key }: Pick<NetworkFacts, 'kind' | 'key'>): string => `${kind} ${key}`;

export const shortKind = ({ kind }: Pick<NetworkFacts, 'kind'>): 'udn' | 'cudn' =>
  kind === 'UserDefinedNetwork' ? 'udn' : 'cudn';

export const isPrimary = ({ spec }: NetworkFacts): boolean => (spec?.layer3 ?? spec?.layer2)?.role === 'Primary';

export const nadKeyIn = (facts: NetworkFacts, namespace: string): string => `${namespace}/${facts.metadata.name}`;

export const isOwnedBy = (nad: NadFacts, { metadata }: NetworkFacts): boolean =>
  nad.metadata.ownerReferences.some(({ uid }) => uid === metadata.uid);

export const isDesiredIn = (facts: NetworkFacts, namespace: string, { namespaces }: Snapshot): boolean => {
  if (facts.kind === 'UserDefinedNetwork') return facts.metadata.namespace === namespace;
  const labels = namespaces.get(namespace)?.labels;
  return facts.selector !== undefined && labels !== undefined && matchesSelector(facts.selector, labels);
};

/** The namespaces that it is desired in, as far as they could be read; sorted. */
export const desiredNamespaces = (facts: NetworkFacts, snapshot: Snapshot): readonly string[] => {
  if (facts.kind === 'UserDefinedNetwork') return [facts.metadata.namespace ?? ''];
  return [...snapshot.namespaces.keys()].filter((name) => isDesiredIn(facts, name, snapshot)).sort();
};

/** All networks that want to be the primary one of a namespace. */
export const primariesDesiredIn = (namespace: string, snapshot: Snapshot): readonly NetworkFacts[] =>
  [...snapshot.networks.values()].filter((facts) => isPrimary(facts) && isDesiredIn(facts, namespace, snapshot));

/** Networks of a namespace that are wrong: what they ask for is not known. */
export const unreadableIn = (namespace: string, { networks }: Snapshot): readonly NetworkFacts[] =>
  [...networks.values()].filter(({ spec, metadata }) => spec === undefined && metadata.namespace === namespace);

/** Who made a NAD: `ClusterUserDefinedNetwork blue`, or that somebody wrote it by hand. */
export const makerOf = ({ metadata }: NadFacts): string => {
  const owner = metadata.ownerReferences.find(({ controller }) => controller === true);
  if (owner === undefined) return 'written by hand';
  return owner.kind === 'UserDefinedNetwork'
    ? `of UserDefinedNetwork ${metadata.namespace}/${owner.name}`
    : `of ${owner.kind} ${owner.name}`;
};
