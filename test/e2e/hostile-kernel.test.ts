/**
 * The same as hostile-shared.test.ts on the kernel's datapath, with VRFs, by half of the attackers: the others attack in
 * hostile-kernel-local.test.ts. Needs root and `make build`.
 */
import { hostileSuite } from '../oracles/hostile/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';

hostileSuite(useCluster({ name: 'test-hostile-kernel', needs: ['vrf', 'kernel-datapath'] }), {
  hasVrfs: true,
  half: 0,
});
