/**
 * Who reaches which Service in local gateway mode: of tenants and by tenants, whose packets pass VRFs, and over SCTP. Needs root and
 * `make build`. With `UDN_SERVICE_MATRIX=all` every such cell, which takes a guest some seven minutes.
 */

import { onGuestKernel } from '../oracles/services/choice.ts';
import { serviceMatrix } from '../oracles/services/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { tenantHostPorts } from './support/services/host-ports.ts';

const cluster = useCluster({
  name: 'test-service-local',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  ipFamily: 'dual',
  gatewayMode: 'local',
});

serviceMatrix(cluster, { mode: 'local', choice: onGuestKernel(process.env), patienceMs: 120_000 });
tenantHostPorts(cluster);
