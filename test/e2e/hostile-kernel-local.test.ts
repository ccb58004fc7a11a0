/** The same as hostile-local.test.ts on the kernel's datapath, with VRFs. Needs root and `make build`. */
import { hostileSuite } from '../oracles/hostile/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';

const cluster = useCluster({
  name: 'test-hostile-kernel-local',
  needs: ['vrf', 'kernel-datapath'],
  gatewayMode: 'local',
});
hostileSuite(cluster, { hasVrfs: true });
