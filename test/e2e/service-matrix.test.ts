/** Who reaches which Service, as far as that takes no VRF and no kernel datapath. Needs root and `make build`. */
import { useCluster } from './support/cluster.ts';
import { onAnyKernel } from './support/service-matrix/choice.ts';
import { serviceMatrix } from './support/service-matrix/suite.ts';

const cluster = useCluster({ name: 'test-service-matrix', ipFamily: 'dual' });

serviceMatrix(cluster, { mode: 'shared', choice: onAnyKernel, patienceMs: 60_000 });
