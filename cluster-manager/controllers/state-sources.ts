/** What the state asks of the mirrors. */
import type { PodFacts } from '../facts/pod-facts.ts';
import type { Sources } from '../state/sources.ts';
import type { Caches } from './caches.ts';

export const stateSources = ({ pods, nodes, namespaces, udns, cudns }: Caches): Sources => ({
  podsUsing: (nadKey): readonly PodFacts[] => pods.byIndex('usedNad', nadKey),
  nodes: () => nodes.values(),
  labelsOf: (namespace) => namespaces.get(namespace)?.labels,
  network: (kind, key) => (kind === 'UserDefinedNetwork' ? udns : cudns).get(key),
});
