/**
 * Who reaches which Service where that takes VRFs, a datapath that lets a packet be looked at as often as it takes, or SCTP. Needs
 * root and `make build`. With `UDN_SERVICE_MATRIX=all` every such cell, which takes a guest a quarter of an hour.
 */
import type { ExpectedCell } from '../../sandbox/service-matrix/row.ts';
import { useCluster } from './support/cluster.ts';
import { serviceMatrix } from './support/service-matrix/suite.ts';

const cluster = useCluster({
  name: 'test-service-kernel',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  ipFamily: 'dual',
});

const isOfKernel = ({ cell, row }: ExpectedCell): boolean => cell.protocol === 'SCTP' || row.needsKernel === true;

/**
 * Left to the whole: what a load balancer gives is an external address like `externalIPs`; `internalTrafficPolicy` decides about
 * ClusterIPs, which need no kernel; and OVN does with SCTP what it does with UDP.
 */
const isSample = ({ cell: { to, policy, protocol } }: ExpectedCell): boolean =>
  to !== 'address of a load balancer' && policy !== 'ITP Local' && (protocol !== 'SCTP' || policy === 'Cluster');

const isWhole = process.env['UDN_SERVICE_MATRIX'] === 'all';

serviceMatrix(cluster, {
  mode: 'shared',
  isAsked: (one) => isOfKernel(one) && (isWhole || isSample(one)),
  patienceMs: 120_000,
});
