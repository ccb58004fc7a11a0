/** Services by node ports and addresses outside of the cluster, in shared gateway mode. Needs root and `make build`. */
import { useCluster } from './support/cluster.ts';
import { servicesFromOutside } from './support/services-from-outside.ts';

const cluster = useCluster({ name: 'test-service-outside', ipFamily: 'dual' });

servicesFromOutside(cluster);
