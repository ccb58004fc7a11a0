/** Objects that the state does not keep, and asks for where something begins or comes back. */
import type { Labels } from '../../api/label-selector.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NetworkFacts, NetworkKind } from '../facts/network-facts.ts';
import type { NodeFacts } from '../facts/node-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';

export interface Sources {
  /** Active pods whose annotation names the NAD; of `ns/*` those whose annotation cannot be read. */
  podsUsing(nadKey: string): readonly PodFacts[];
  /** NADs that were written by hand, and are of the network by what the cluster manager has written on them. */
  adoptedNads(network: string): readonly NadFacts[];
  nodes(): Iterable<NodeFacts>;
  /** Undefined as long as the namespace is not known. */
  labelsOf(namespace: string): Labels | undefined;
  /** @param key `namespace/name` or `name` */
  network(kind: NetworkKind, key: string): NetworkFacts | undefined;
}
