/** Who reaches which Service in local gateway mode, as far as that takes no VRF. Needs root and `make build`. */
import { useCluster } from './support/cluster.ts';
import { onAnyKernel } from './support/service-matrix/choice.ts';
import { serviceMatrix } from './support/service-matrix/suite.ts';

const cluster = useCluster({ name: 'test-matrix-local', ipFamily: 'dual', gatewayMode: 'local' });

serviceMatrix(cluster, { mode: 'local', choice: onAnyKernel, patienceMs: 60_000 });
