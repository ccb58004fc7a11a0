/**
 * In local gateway mode packets go from OVN through the node's kernel, by a VRF for each network. Also what else becomes of
 * these VRFs: every cluster on a guest's kernel takes long. Needs root and `make build`.
 */
import { useCluster } from './support/cluster.ts';
import { DRIFT_SETTINGS, drift } from './support/drift.ts';
import { kernelSuites } from './support/kernel-suites.ts';
import { northSouth } from './support/north-south.ts';
import { tenantVrfs } from './support/tenant-vrfs.ts';
import { VRF_DAMAGES } from './support/vrf-damages.ts';
import { vrfLifecycle } from './support/vrf-lifecycle.ts';

const cluster = useCluster({
  name: 'test-north-south-local',
  needs: ['vrf', 'kernel-datapath'],
  gatewayMode: 'local',
  settings: DRIFT_SETTINGS,
});

northSouth(cluster);
tenantVrfs(cluster);
drift(cluster, VRF_DAMAGES, []);
kernelSuites(cluster);
vrfLifecycle(cluster);
