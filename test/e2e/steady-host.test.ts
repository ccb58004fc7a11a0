/** A node goes on as it is while its agent dies and comes back. Needs root and `make build`. */
import { useCluster } from './support/cluster/cluster.ts';
import { steady } from './support/steady/steady.ts';

steady(useCluster({ name: 'test-steady' }));
