/** What somebody changes or deletes of ours comes back. Needs root and `make build`. */
import { useCluster } from './support/cluster/cluster.ts';
import { DAMAGES } from './support/state/damages.ts';
import { drift } from './support/state/drift.ts';

drift(useCluster({ name: 'test-drift' }), DAMAGES);
