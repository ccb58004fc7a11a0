/**
 * Who reaches which Service where that takes VRFs, a datapath that lets a packet be looked at as often as it takes, or SCTP. Needs
 * root and `make build`.
 */
import { useCluster } from './support/cluster.ts';
import { serviceMatrix } from './support/service-matrix/suite.ts';

const cluster = useCluster({
  name: 'test-service-kernel',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  ipFamily: 'dual',
});

serviceMatrix(cluster, {
  mode: 'shared',
  isAsked: ({ cell, row }) => cell.protocol === 'SCTP' || row.needsKernel === true,
  patienceMs: 120_000,
});
