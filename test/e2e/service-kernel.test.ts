/**
 * Who reaches which Service where that takes VRFs, a datapath that lets a packet be looked at as often as it takes, or SCTP. Needs
 * root and `make build`. With `UDN_SERVICE_MATRIX=all` every such cell, which takes a guest a quarter of an hour.
 */
import { useCluster } from './support/cluster.ts';
import { onGuestKernel } from './support/service-matrix/choice.ts';
import { serviceMatrix } from './support/service-matrix/suite.ts';

const cluster = useCluster({
  name: 'test-service-kernel',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  ipFamily: 'dual',
});

serviceMatrix(cluster, { mode: 'shared', choice: onGuestKernel, patienceMs: 120_000 });
