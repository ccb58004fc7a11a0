/**
 * The same as hostile-local.test.ts on the kernel's datapath, with VRFs, by half of the attackers: the others attack in hostile-kernel.test.ts.
 * Needs root and `make build`.
 */
import { hostileSuite } from '../oracles/hostile/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';

const cluster = useCluster({
  name: 'test-hostile-kernel-local',
  needs: ['vrf', 'kernel-datapath'],
  gatewayMode: 'local',
});
hostileSuite(cluster, { hasVrfs: true, half: 1 });
