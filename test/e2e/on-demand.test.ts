/** Networks rendered on demand, whatever the run is otherwise. Needs root and `make build`. */
import { useCluster } from './support/cluster/cluster.ts';
import { onDemand, onDemandSettings } from './support/networks/on-demand.ts';

const GRACE_SECONDS = 5;

onDemand(useCluster({ name: 'test-on-demand', settings: onDemandSettings(GRACE_SECONDS) }), GRACE_SECONDS);
