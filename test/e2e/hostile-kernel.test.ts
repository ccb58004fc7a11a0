/** The same as hostile-shared.test.ts on the kernel's datapath, with VRFs. Needs root and `make build`. */
import { hostileSuite } from '../oracles/hostile/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';

hostileSuite(useCluster({ name: 'test-hostile-kernel', needs: ['vrf', 'kernel-datapath'] }), {
  hasVrfs: true,
});
