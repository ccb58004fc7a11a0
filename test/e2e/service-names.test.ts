/**
 * Services by their names, on this machine's kernel: tenants reach the DNS server at external addresses, as their way to its
 * ClusterIPs takes VRFs (`service-names-real.test.ts`). Needs root and `make build`.
 */
import { beforeAll } from 'vitest';
import { SERVICES } from '../../kube/resources.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { serviceNames } from './support/services/names.ts';

/** Of the blocks for documentation (RFC 5737, RFC 3849). */
const EXTERNAL = ['203.0.113.53', '2001:db8:113::53'];

const cluster = useCluster({ name: 'test-service-names', dns: 'coredns', kernel: 'host', ipFamily: 'dual' });

beforeAll(async () => {
  const body = { spec: { externalIPs: EXTERNAL } };
  const kubeDns = { namespace: 'kube-system', name: 'kube-dns' };
  await (await cluster().client()).patch(SERVICES, kubeDns, { type: 'merge', body });
});

// Without an endpoint of the DNS server, which is on node-2: the userspace datapath gives up what is for one on the same node.
serviceNames(cluster, { ofTenants: EXTERNAL, tenantsOn: ['node-1'] });
