/** What somebody changes or deletes of ours comes back. Needs root and `make build`. */
import { useCluster } from './support/cluster.ts';
import { DAMAGES } from './support/damages.ts';
import { drift } from './support/drift.ts';

drift(useCluster({ name: 'test-drift' }), DAMAGES);
