/**
 * In local gateway mode packets go from OVN through the node's kernel, by a VRF for each network. Also what else becomes of
 * these VRFs: every cluster on a guest's kernel takes long. Needs root and `make build`.
 */

import { hostIsolation } from '../oracles/hosts/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { HAS_ALL_SCENARIOS } from './support/cluster/sample.ts';
import { hostileAmongTenants } from './support/hostile/tenants.ts';
import { kernelSuites } from './support/networks/kernel-suites.ts';
import { networkDeletion } from './support/networks/network-deletion.ts';
import { northSouth } from './support/networks/north-south.ts';
import { podKey } from './support/networks/north-south-tenants.ts';
import { tenantVrfs } from './support/networks/tenant-vrfs.ts';
import { VRF_DAMAGES } from './support/networks/vrf-damages.ts';
import { vrfLifecycle } from './support/networks/vrf-lifecycle.ts';
import { pathMtu } from './support/packets/path-mtu.ts';
import { defaultServices } from './support/services/default-services.ts';
import { DAMAGES } from './support/state/damages.ts';
import { drift } from './support/state/drift.ts';

const cluster = useCluster({
  name: 'test-north-south-local',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  gatewayMode: 'local',
});

/** Of what is another thing in this mode: flows from and to the node's own stack, and the chains that translate there. */
const OTHER_DAMAGES = DAMAGES.filter(({ what }) =>
  ['all flows are deleted', 'the table is deleted'].includes(what),
).map(({ shown: _, ...damage }) => damage);

northSouth(cluster, { hasSctp: true, translatesIcmp: true });
tenantVrfs(cluster);
defaultServices(cluster);
hostIsolation(cluster, {
  victim: podKey('red', 'node-1'),
  plain: [podKey('plain', 'node-1'), podKey('plain', 'node-2')],
  hostPods: ['red/host', 'plain/host'],
  hasSctp: true,
});
hostileAmongTenants(cluster);
pathMtu(cluster, { isReported: true });
drift(cluster, [...VRF_DAMAGES, ...OTHER_DAMAGES], []);
kernelSuites(cluster);
networkDeletion(cluster, {
  stays: { from: podKey('red', 'node-1'), to: podKey('red', 'node-2') },
  // In shared gateway mode twenty do (network-deletion.test.ts); what is taken away here one network shows.
  many: HAS_ALL_SCENARIOS ? 3 : 0,
  hasMarks: false,
});
vrfLifecycle(cluster);
