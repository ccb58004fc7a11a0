/** Who reaches which Service in local gateway mode, as far as that takes no VRF. Needs root and `make build`. */

import { onAnyKernel } from '../oracles/services/choice.ts';
import { serviceMatrix } from '../oracles/services/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';

const cluster = useCluster({ name: 'test-matrix-local', ipFamily: 'dual', gatewayMode: 'local' });

serviceMatrix(cluster, { mode: 'local', choice: onAnyKernel, patienceMs: 60_000 });
