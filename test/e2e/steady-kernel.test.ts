/** A node goes on as it is on the kernel's datapath, with VRFs: there not one ping is lost. Needs root and `make build`. */
import { useCluster } from './support/cluster/cluster.ts';
import { steady } from './support/steady/steady.ts';

const cluster = useCluster({
  name: 'test-steady-kernel',
  needs: ['vrf', 'kernel-datapath'],
});

// As much as an emulated processor forwards without losing any by itself.
steady(cluster, { tenants: 2, pings: 1, pauseMs: 200, kills: 1, isLossless: true });
