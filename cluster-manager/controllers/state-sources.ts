/** What the state asks of the mirrors. */
import type { NadFacts } from '../facts/nad-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { Sources } from '../state/sources.ts';
import type { Caches } from './caches.ts';

export const stateSources = ({ pods, nads, nodes, namespaces, udns, cudns }: Caches): Sources => ({
  podsUsing: (nadKey): readonly PodFacts[] => pods.byIndex('usedNad', nadKey),
  adoptedNads: (network): readonly NadFacts[] => nads.byIndex('adopted', network),
  nodes: () => nodes.values(),
  labelsOf: (namespace) => namespaces.get(namespace)?.labels,
  network: (kind, key) => (kind === 'UserDefinedNetwork' ? udns : cudns).get(key),
});
