/**
 * Services by their names, on a real API server with real kubelets: CoreDNS is in a pod of the default network. On this
 * machine's kernel, so that tenants reach it at external addresses: their way to its ClusterIPs takes VRFs
 * (`service-names.test.ts`). Needs root and `make build`.
 */
import { beforeAll } from 'vitest';
import { SERVICES } from '../../kube/resources.ts';
import { useCluster } from './support/cluster.ts';
import { serviceNames } from './support/service-names.ts';

/** Of the blocks for documentation (RFC 5737, RFC 3849). */
const EXTERNAL = ['203.0.113.53', '2001:db8:113::53'];

const cluster = useCluster({
  ...{ name: 'test-service-names', api: 'kube', kubelet: 'real', dns: 'coredns', kernel: 'host' },
  ...{ ipFamily: 'dual', timeoutSeconds: 90 },
});

beforeAll(async () => {
  const body = { spec: { externalIPs: EXTERNAL } };
  const kubeDns = { namespace: 'kube-system', name: 'kube-dns' };
  await (await cluster().client()).patch(SERVICES, kubeDns, { type: 'merge', body });
});

// Without an endpoint of the DNS server, which is on node-2: the userspace datapath gives up what is for one on the same node.
serviceNames(cluster, { ofTenants: EXTERNAL, clientsOn: ['node-1'] });
