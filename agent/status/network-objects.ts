/** How many things each network has in each place, for metrics. */
import { FEATURES } from '../features/index.ts';
import { DATAPATH_BACKENDS, type DatapathBackend, type NodeDatapath } from '../reconcile/node-datapath.ts';

export interface NetworkObjects {
  readonly network: string;
  readonly backend: DatapathBackend;
  readonly count: number;
}

const SUBJECTS = new Map(FEATURES.map(({ name, over }) => [name, over]));

/** Looks at everything: for whoever reads the metrics, not for events. */
export const countNetworkObjects = (datapath: Pick<NodeDatapath, DatapathBackend>): NetworkObjects[] =>
  DATAPATH_BACKENDS.flatMap((backend) => {
    const counts = new Map<string, number>();
    for (const [owner, count] of datapath[backend].store.sizes()) {
      const network = networkOfOwner(owner);
      if (network !== undefined) counts.set(network, (counts.get(network) ?? 0) + count);
    }
    return [...counts].map(([network, count]) => ({ network, backend, count }));
  });

/** Undefined: the owner is about no single network. A node's name has no slash, a network's may. */
export const networkOfOwner = (owner: string): string | undefined => {
  const colon = owner.indexOf(':');
  const subject = owner.slice(colon + 1);
  const kind = SUBJECTS.get(owner.slice(0, colon));
  if (kind === 'network') return subject;
  return kind === 'networkNode' ? subject.slice(subject.indexOf('/') + 1) : undefined;
};
