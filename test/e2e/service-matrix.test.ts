/** Who reaches which Service, as far as that takes no VRF and no kernel datapath. Needs root and `make build`. */

import { onAnyKernel } from '../oracles/services/choice.ts';
import { serviceMatrix } from '../oracles/services/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';

const cluster = useCluster({ name: 'test-service-matrix', ipFamily: 'dual' });

serviceMatrix(cluster, { mode: 'shared', choice: onAnyKernel, patienceMs: 60_000 });
