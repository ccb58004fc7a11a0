/**
 * Services between networks of one node: by VRFs, and on a datapath that lets a packet be looked at as often as that takes. Needs
 * root and `make build`.
 */
import { beforeAll } from 'vitest';
import { useCluster } from './support/cluster.ts';
import { applyPublicServices, servicesBetweenNetworks } from './support/services-from-outside.ts';

const cluster = useCluster({
  name: 'test-service-kernel',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  ipFamily: 'dual',
});

beforeAll(() => applyPublicServices(cluster()), 400_000);
servicesBetweenNetworks(cluster, ['red', 'plain'], { hasVrf: true, hasKernelDatapath: true });
